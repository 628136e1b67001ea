import type { Pace, Steps } from '#base/in-slices.ts'
import type { Match } from '#base/pattern/text-scanner.ts'
import { FREE_FLAG, SearchableText } from '../rules/searchable-text.ts'

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
  // Joined at each yield: ropes of concatenated strings slow down garbage collections and the next reader.
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

const CAN_CHANGE = FREE_FLAG

/** One text of a body, as the next guard sees it. */
export class GuardedText extends SearchableText {
  constructor(text: string, canChange: boolean) {
    super(text, canChange ? CAN_CHANGE : 0)
  }

  /** False: matches cannot be masked. */
  get canChange(): boolean {
    return this.has(CAN_CHANGE)
  }

  /** In UTF-16 units. */
  get length(): number {
    return this.text.length
  }

  /** Replaces matches. Yields between them. */
  *mask(matches: readonly Match[], placeholder: string, pace: Pace): Steps<void> {
    this.text = yield* replaceMatches(this.text, matches, placeholder, pace)
  }
}
