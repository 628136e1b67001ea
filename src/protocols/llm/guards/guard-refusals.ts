import { parseJson } from '#base/parse-json.ts'
import { backendName } from '#exchange/backend-name.ts'
import type { DecidedBy } from '#exchange/decided-by.ts'
import type { GuardCheck } from '#exchange/exchange.ts'
import { guardName } from '#exchange/guard-name.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { Guard, RegexGuard } from './guard.ts'
import type { TextRule } from './rules/text-rule.ts'
import type { ServiceVerdict } from './services/service.ts'

/** Code of the error event if a guard rejects, or fails, in a stream or in a session. */
export const GUARD_CODE = 'guardrail_intervention'

/** Statuses of responses without a body (RFC 9110, 6.4.1). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** The exact configured message, in any format (decision B49). */
export function buildRefusal(status: number, message: string, decidedBy?: DecidedBy): Refusal {
  return reject('prompt-guard-rejected', {
    status,
    body: WITHOUT_BODY.has(status) ? '' : message,
    contentType: isJsonObject(message) ? 'application/json' : 'text/plain; charset=utf-8',
    decidedBy,
  })
}

/** The refusal of a guard that rejects, with what it found for the operator. */
export function refuseByGuard(guard: Guard, why: string): Refusal {
  return { ...guard.refusal, detail: `${guardName(guard)}: ${guard.kind}${why}` }
}

/** Uses status and body of the service if it sent them; an empty body is replaced by that of the guard. */
export function refuseByService(guard: Guard, { status, body }: Extract<ServiceVerdict, { kind: 'reject' }>): Refusal {
  const refusal = refuseByGuard(guard, ' rejected')
  if (status === undefined) return refusal
  const message = body === undefined || body === '' ? (guard.refusal.body ?? '') : body
  return { ...buildRefusal(status, message, refusal.decidedBy), detail: refusal.detail }
}

/** A guard gave no verdict, so that nothing may pass (decision B52). */
export function failGuard(guard: Guard, detail: string): Refusal {
  const { kind, refusal } = guard
  // The kind of a vendor's service identifies it.
  const server = guard.kind === 'webhook' ? ` ${backendName(guard.service.destination)}` : ''
  const { decidedBy } = refusal
  return reject('prompt-guard-failed', { detail: `${guardName(guard)}: ${kind}${server}: ${detail}`, decidedBy })
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = parseJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** How a record names rules. */
export function namesOf(rules: readonly TextRule[]): Pick<GuardCheck, 'rule' | 'placeholder'> {
  return {
    rule: listOf(rules, ({ label }) => label),
    placeholder: listOf(rules, ({ placeholder }) => placeholder),
  }
}

/** Undefined: there is none. */
function listOf(rules: readonly TextRule[], read: (rule: TextRule) => string): string | undefined {
  return rules.length === 0 ? undefined : rules.map(read).join(', ')
}

/** @param detail why the match cannot be masked; undefined: the guard rejects every match */
export function refuseByRules(guard: RegexGuard, rules: readonly TextRule[], detail: string | undefined): Refusal {
  const { rule } = namesOf(rules)
  return refuseByGuard(guard, `${rule === undefined ? '' : ` ${rule}`}${detail === undefined ? '' : `: ${detail}`}`)
}
