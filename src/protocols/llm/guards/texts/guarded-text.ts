import type { Pace, Steps } from '#base/in-slices.ts'
import type { Match } from '#base/pattern/text-scanner.ts'
import { replaceMatches } from '../rules/mask-text.ts'
import { FREE_FLAG, SearchableText } from '../rules/searchable-text.ts'

const CAN_CHANGE = FREE_FLAG
const JOINS = 2 * FREE_FLAG

/** One text of a body, as the next guard sees it. */
export class GuardedText extends SearchableText {
  constructor(text: string, canChange: boolean, joins: boolean) {
    super(text, (canChange ? CAN_CHANGE : 0) | (joins ? JOINS : 0))
  }

  /** False: what matches cannot be masked. */
  get canChange(): boolean {
    return this.has(CAN_CHANGE)
  }

  /** The model reads it together with the other texts of its run that join. */
  get joins(): boolean {
    return this.has(JOINS)
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
