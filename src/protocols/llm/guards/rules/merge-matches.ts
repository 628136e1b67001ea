import type { Pace, Steps } from '#base/in-slices.ts'
import { orderInSteps } from '#base/order-in-steps.ts'
import type { Match } from '#base/pattern/text-scanner.ts'

/** Matches in order; those that overlap are one. Yields between them. */
export function* mergeMatches(matches: readonly Match[], pace: Pace): Steps<readonly Match[]> {
  const merged: Match[] = []
  for (const match of yield* orderInSteps(matches, pace)) {
    if (pace.after(1)) yield
    const last = merged.at(-1)
    if (last === undefined || match.start >= last.end) merged.push(match)
    else if (match.end > last.end) merged[merged.length - 1] = { start: last.start, end: match.end }
  }
  return merged
}
