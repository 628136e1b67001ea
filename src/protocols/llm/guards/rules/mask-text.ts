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
  let out = ''
  let from = 0
  for (const { start, end } of matches) {
    out += text.slice(from, start) + placeholder
    from = end
    if (!pace.after(WORK_PER_MATCH)) continue
    parts.push(out)
    out = ''
    yield
  }
  out += text.slice(from)
  return parts.length === 0 ? out : parts.join('') + out
}
