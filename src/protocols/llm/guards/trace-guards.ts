import { backendName } from '#exchange/backend-name.ts'
import type { GuardCheck } from '#exchange/exchange.ts'
import { guardName } from '#exchange/guard-name.ts'
import type { Trace } from '#exchange/trace.ts'
import type { BodyTexts, ExemptPlace, TextPlace } from '../texts/body-texts.ts'
import type { Guard } from './guard.ts'
import type { GuardQuestion, GuardService } from './services/service.ts'

// What guards do, for `explain`. Texts appear by their paths only.

/** Which strings of a body the guards see, and which ones they do not. */
export function traceTexts(trace: Trace, { runs }: BodyTexts, exempt: readonly ExemptPlace[]): void {
  for (const { role, places } of runs) for (const place of places) trace.note(`${role.padEnd(9)} ${describe(place)}`)
  for (const { path, reason } of exempt) trace.note(`unchecked ${path}: ${reason}`)
  const count = runs.reduce((sum, { places }) => sum + places.length, 0)
  step(trace, 'proceed', `guards see ${count === 1 ? '1 string' : `${count} strings`} of the request`)
}

/** The question to a service, without the texts. */
export function traceQuestion(
  trace: Trace,
  { kind, destination }: GuardService,
  { messages, phase }: GuardQuestion,
): void {
  const length = messages.reduce((sum, { content }) => sum + content.length, 0)
  const texts = messages.length === 1 ? '1 text' : `${messages.length} texts`
  const asked = trace.isCalling ? 'is asked' : 'would be asked'
  const assumed = trace.isCalling ? '' : '; without --call, it counts as letting them pass'
  const detail = `${kind} ${backendName(destination)} ${asked} about ${texts} of the ${phase}, ${length} characters${assumed}`
  step(trace, 'proceed', detail)
}

/** What a guard found. A service that lets texts pass is not mentioned: `explain` assumes the same of services that it does not ask. */
export function traceCheck(trace: Trace, check: GuardCheck): void {
  const { kind, verdict, rule, detail } = check
  if (verdict === 'Allow' && kind !== 'regex') return
  const what = [OUTCOMES[verdict], rule && `by ${rule}`, detail && `(${detail})`].filter((part) => part !== undefined)
  const ends = verdict === 'Reject' || verdict === 'Fail'
  step(trace, ends ? 'refuse' : 'proceed', `${guardName(check)}, ${kind}, ${what.join(' ')}`)
}

/** What a guard would do with the response. */
export function describeResponseGuard(guard: Guard): string {
  const name = guardName(guard)
  if (guard.kind !== 'regex') return `${name}, ${guard.kind} ${backendName(guard.service.destination)}`
  return `${name}, regex, masks ${guard.rules.map(({ label }) => label).join(', ')}`
}

const OUTCOMES = {
  Allow: 'finds nothing',
  Mask: 'masks',
  Reject: 'rejects',
  Fail: 'fails',
} as const

function describe({ path, form, canChange }: TextPlace): string {
  const how = form === 'arguments' ? ' (JSON in a string, or text)' : form === 'base64' ? ' (a text file)' : ''
  return `${path}${how}${canChange ? '' : ' (a match rejects: it cannot be masked)'}`
}

function step(trace: Trace, verdict: 'proceed' | 'refuse', detail: string): void {
  trace.step({ stage: 'backend', name: 'promptGuard', verdict, detail, origins: [] })
}
