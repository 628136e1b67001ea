/** Milliseconds per unit of Gateway API durations (GEP-2257). */
const UNIT_MS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const

const WHOLE = /^(?:\d{1,5}(?:h|ms|m|s)){1,4}$/
const GROUP = /(\d{1,5})(h|ms|m|s)/g

/**
 * Parses a `Duration` (specification 1, 2.2): 1 to 4 groups of 1 to 5 digits and a unit `h`, `m`, `s` or `ms`.
 * @returns milliseconds, or undefined if the text has another format
 */
export function parseDuration(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined
  let total = 0
  for (const [, digits, unit] of text.matchAll(GROUP)) total += Number(digits) * UNIT_MS[unit as keyof typeof UNIT_MS]
  return total
}
