import { isRawNumber, parseExactJson } from '#base/exact-json.ts'
import type { Head } from '#net/http/head.ts'
import { modelOf } from '../../models/models.ts'
import { BETA_FIELD, wantedBetas } from '../messages/version-fields.ts'
import { isOwnProfile } from './own-profile.ts'
import type { ConverseRequest } from './wire.ts'

/** A guardrail of the service, which judges the prompt and the answer. */
export interface Guardrail {
  readonly identifier: string
  readonly version: string
}

/** Adds what does not come from the body of the client: the guardrail, and what the client says in headers. */
export function completeRequest(
  body: ConverseRequest,
  guardrail: Guardrail | undefined,
  betas: readonly string[],
  metadata: Readonly<Record<string, string>> | undefined,
): ConverseRequest {
  if (guardrail === undefined && betas.length === 0 && metadata === undefined) return body
  const fields = body.additionalModelRequestFields as object | undefined
  return {
    ...body,
    ...(betas.length > 0 && { additionalModelRequestFields: { ...fields, anthropic_beta: betas } }),
    ...(metadata !== undefined && { requestMetadata: metadata }),
    ...(guardrail !== undefined && {
      guardrailConfig: {
        guardrailIdentifier: guardrail.identifier,
        guardrailVersion: guardrail.version,
        trace: 'enabled',
      },
    }),
  } satisfies ConverseRequest
}

const METADATA_FIELD = 'x-bedrock-metadata'

/** The metadata of a request, by which its log can be filtered: the plain members of the JSON object in the header. */
export function requestMetadata(head: Head): Readonly<Record<string, string>> | undefined {
  if (!head.has(METADATA_FIELD)) return undefined
  const [text, another] = head.getAll(METADATA_FIELD)
  if (text === undefined || another !== undefined) return undefined
  const entries = Object.entries(parseObject(text)).flatMap(([name, value]): [string, string][] => {
    if (isRawNumber(value)) return [[name, value.rawJSON]]
    return value === null || typeof value === 'object' ? [] : [[name, String(value)]]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

function parseObject(text: string): object {
  try {
    const value = parseExactJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}

/** Beta features of the messages family that the service documents. It refuses requests with others. */
const BETAS: ReadonlySet<string> = new Set([
  'computer-use-2025-01-24',
  'token-efficient-tools-2025-02-19',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'dev-full-thinking-2025-05-14',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'tool-search-tool-2025-10-19',
  'tool-examples-2025-10-29',
])

/** The beta features that the client of the messages API wants, for models that may have them. */
export function requestBetas(head: Head, model: string): readonly string[] {
  if (!head.has(BETA_FIELD) || !(modelOf(model).family === 'claude' || isOwnProfile(model))) return []
  return wantedBetas(head, BETAS)
}
