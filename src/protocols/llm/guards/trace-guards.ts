import type { GuardCheck } from '#exchange/exchange.ts'
import type { Trace } from '#exchange/trace.ts'
import type { BodyTexts, TextPlace } from '../texts/body-texts.ts'

// What guards do, for `explain`. Texts appear by their paths only.

/** Which strings of a body the guards see, and which ones they do not. */
export function traceTexts(trace: Trace, { runs, exempt }: BodyTexts): void {
  for (const { role, places } of runs) for (const place of places) trace.note(`${role.padEnd(9)} ${describe(place)}`)
  for (const { path, reason } of exempt) trace.note(`unchecked ${path}: ${reason}`)
  const count = runs.reduce((sum, { places }) => sum + places.length, 0)
  step(trace, 'proceed', `guards see ${count === 1 ? '1 string' : `${count} strings`} of the request`)
}

/** What a guard found. That a service has let texts pass needs no words: `explain` also assumes it of services that it does not ask. */
export function traceCheck(trace: Trace, { phase, index, kind, verdict, rule, detail }: GuardCheck): void {
  if (verdict === 'Allow' && kind !== 'regex') return
  const what = [OUTCOMES[verdict], rule && `by ${rule}`, detail && `(${detail})`].filter((part) => part !== undefined)
  const ends = verdict === 'Reject' || verdict === 'Fail'
  step(trace, ends ? 'refuse' : 'proceed', `${phase} guard ${index}, ${kind}, ${what.join(' ')}`)
}

const OUTCOMES = {
  Allow: 'finds nothing',
  Mask: 'masks',
  Reject: 'rejects',
  Fail: 'fails',
} as const

function describe({ path, form, canChange }: TextPlace): string {
  const how = form === 'arguments' ? ' (JSON in a string)' : form === 'base64' ? ' (a text file)' : ''
  return `${path}${how}${canChange ? '' : ' (a match rejects: it cannot be masked)'}`
}

function step(trace: Trace, verdict: 'proceed' | 'refuse', detail: string): void {
  trace.step({ stage: 'backend', name: 'promptGuard', verdict, detail, origins: [] })
}
