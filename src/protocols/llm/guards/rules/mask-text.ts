import type { Pace, Steps } from '#base/in-slices.ts'
import type { Match } from '#base/pattern/text-scanner.ts'

/** The work for a match, in characters. */
const WORK_PER_MATCH = 32

/** Replaces the matches of a rule. Yields between them. */
export function* replaceMatches(
  text: string,
  matches: readonly Match[],
  placeholder: string,
  pace: Pace,
): Steps<string> {
  const parts: string[] = []
  // Joined at each yield: strings that are only added to each other stay objects of their own, which slow down collections and the next reader.
  let pieces: string[] = []
  let from = 0
  for (const { start, end } of matches) {
    pieces.push(text.slice(from, start), placeholder)
    from = end
    if (!pace.after(WORK_PER_MATCH)) continue
    parts.push(pieces.join(''))
    pieces = []
    yield
  }
  parts.push(...pieces, text.slice(from))
  return parts.join('')
}
