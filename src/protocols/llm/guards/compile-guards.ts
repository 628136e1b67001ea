import { nameWithProduct } from '#base/products.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { PromptGuardRequestSpec, PromptGuardResponseSpec, PromptGuardSpec } from './guard-schema.ts'
import { compileRules } from './rules/compile-rules.ts'
import type { TextRule } from './rules/text-rule.ts'

/** `promptGuard`, prepared. */
export interface PromptGuards {
  /** Some guard cannot run. The content that it would check must not pass, so all guarded requests are refused. */
  readonly closed: boolean
  /** Guards on requests, in order. */
  readonly request: readonly RegexGuard[]
}

export interface RegexGuard {
  readonly rules: readonly TextRule[]
  /** The response if something matches; undefined: matches are masked. */
  readonly refusal: Refusal | undefined
}

const DEFAULT_MESSAGE = 'The request was rejected due to inappropriate content'
const DEFAULT_STATUS = 403

/** Statuses of responses without a body (RFC 9110, 6.4.1). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * Prepares guards. A guard that cannot run is reported and refuses all requests (specification 2, 2.5; decision B57).
 * @param report `path` is relative to the settings
 */
export function compileGuards(
  spec: PromptGuardSpec | undefined,
  report: (path: string, message: string) => void,
): PromptGuards | undefined {
  const { request = [], response = [] } = spec ?? {}
  if (request.length + response.length === 0) return undefined
  let closed = false
  const close = (path: string, message: string) => {
    closed = true
    report(path, `${message}; every request is refused`)
  }
  const guards: RegexGuard[] = []
  request.forEach((guard, index) => {
    const path = `.promptGuard.request[${index}].${guardKind(guard)}`
    if (guard.regex === undefined) {
      close(path, `${nameWithProduct(guardKind(guard))} is not implemented yet`)
      return
    }
    const rules = compileRules(guard.regex, (part, message) => close(path + part, message))
    guards.push({ rules, refusal: guard.regex.action === 'Reject' ? buildRefusal(guard.response, index) : undefined })
  })
  response.forEach((guard, index) => {
    close(`.promptGuard.response[${index}].${guardKind(guard)}`, 'response guards are not implemented yet')
  })
  return { closed, request: guards }
}

function guardKind(guard: PromptGuardRequestSpec | PromptGuardResponseSpec): string {
  return Object.keys(guard).find((key) => key !== 'response') ?? ''
}

/** The exact configured message, in any format (decisions B49, B50). */
function buildRefusal(response: PromptGuardRequestSpec['response'], index: number): Refusal {
  const status = response?.statusCode ?? DEFAULT_STATUS
  const message = response?.message ?? DEFAULT_MESSAGE
  return reject('prompt-guard-rejected', {
    status,
    body: WITHOUT_BODY.has(status) ? '' : message,
    contentType: isJsonObject(message) ? 'application/json' : 'text/plain; charset=utf-8',
    detail: `request guard ${index}: regex`,
  })
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
