import type { LlmTranslation } from '#exchange/llm-facts.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { ClientDialect, ProviderDialect, WireDialect } from './dialect.ts'
import { findPair } from './dialects.ts'
import { JsonValue, parseDocument } from './json/json-document.ts'
import { writeJson } from './json/write-json.ts'
import { Losses } from './losses.ts'
import { refuse, refuseFault } from './refuse.ts'
import type { ClientFormat } from './route-type.ts'
import { TargetNames } from './target-names.ts'
import { Untranslatable } from './untranslatable.ts'

/** A request in the dialect of its provider. */
export interface TranslatedRequest {
  readonly body: Uint8Array
  readonly facts: LlmTranslation
  readonly answer: AnswerTranslation
}

/** How the response to it becomes one in the dialect of the client. */
export interface AnswerTranslation {
  readonly type: ClientFormat
  readonly from: ProviderDialect
  readonly to: ClientDialect
  /** The client asked for a stream. */
  readonly streamed: boolean
  /** The body of the client. */
  readonly request: JsonValue
  readonly model: string
  readonly names: TargetNames
}

/**
 * Translates a request. Everything that depends on the request alone has been applied to `body`, so that settings are in the dialect of the
 * client (decision B18).
 */
export function translateRequest(
  type: ClientFormat,
  dialect: WireDialect,
  body: Uint8Array,
): TranslatedRequest | Refusal {
  const { from, to, client, provider } = findPair(type, dialect)!
  const request = parseDocument(body)
  if (!(request instanceof JsonValue)) return refuseFault(type, request)
  const losses = new Losses()
  try {
    const conversation = client.readRequest(request, losses)
    const { model, streamed, tools } = conversation
    const names = new TargetNames(tools.map(({ name }) => name))
    const written = writeJson(provider.writeRequest(conversation, { names }, losses))
    const answer = { type, from: provider, to: client, streamed, request, model, names }
    return { body: written, facts: { from, to, dropped: losses.paths }, answer }
  } catch (error) {
    if (error instanceof Untranslatable) return refuse(type, 'llm-body-invalid', error.message)
    throw error
  }
}
