import type { TlsMaterialCheck } from '#base/tls-material.ts'
import { endsIn, type MaterialEnd } from '#plan/material-ends.ts'
import type { Report } from '../context/reporting.ts'
import type { IsPast } from '../context/translation-context.ts'

/** What is about to end is reported so many days before, each time anew. */
const WARNED_DAYS = [1, 7, 30]
const DAY_MS = 86_400_000

/** Codes by kind of what ends: it is not valid now, or will not be soon. */
const CODES = {
  certificate: { invalid: 'certificate-expired', soon: 'certificate-expires' },
  token: { invalid: 'token-expired', soon: 'token-expires' },
} as const

/** Codes of findings about what ends. */
export const END_CODES: ReadonlySet<string> = new Set(Object.values(CODES).flatMap((codes) => Object.values(codes)))

type Lifetime = Pick<MaterialEnd, 'fromMs' | 'untilMs'>

/** What there is to say about a time of validity now. @param isPast called again for the next time at which that changes */
export function endNote(
  { fromMs, untilMs }: Lifetime,
  isPast: IsPast,
): { readonly state: 'invalid' | 'soon'; readonly text: string } | undefined {
  if (isPast(untilMs)) return { state: 'invalid', text: `expired on ${day(untilMs)}` }
  if (!isPast(fromMs - 1)) return { state: 'invalid', text: `is valid only from ${day(fromMs)}` }
  const days = daysLeft({ fromMs, untilMs }, isPast)
  if (days === undefined) return undefined
  return { state: 'soon', text: `expires on ${day(untilMs)}, in less than ${days === 1 ? 'a day' : `${days} days`}` }
}

/**
 * Reports what ends soon, or has ended, in a Secret or ConfigMap that is used.
 * @param title `Secret namespace/name`
 * @param data texts by name of the entry
 */
export function checkEnds(
  title: string,
  data: Readonly<Record<string, string>>,
  { validity, isPast }: Pick<TlsMaterialCheck, 'validity'> & { readonly isPast: IsPast },
  report: Report,
): void {
  for (const end of endsIn(data, validity, isPast)) {
    const note = endNote(end, isPast)
    if (note === undefined) continue
    const message = `${title}: ${nameOf(end)} ${note.text}`
    report({ path: '', code: CODES[end.kind][note.state], message, severity: 'warning' })
  }
}

function nameOf({ kind, entry, number }: MaterialEnd): string {
  if (number !== undefined) return `${kind} ${number} in ${entry}`
  return entry === 'tls.crt' ? `the ${kind}` : `the ${kind} in ${entry}`
}

/** In how many days, at most, something ends. What is renewed at two thirds of its life, as usual, is never reported. @returns undefined: it is not yet time to warn */
function daysLeft({ fromMs, untilMs }: Lifetime, isPast: IsPast): number | undefined {
  const days = WARNED_DAYS.filter((each) => each * DAY_MS < (untilMs - fromMs) / 3)
  return days.find((each) => isPast(untilMs - each * DAY_MS))
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
