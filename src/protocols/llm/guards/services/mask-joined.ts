import type { Pace, Steps } from '#base/in-slices.ts'
import { type ChangeableText, type Joining, joinInSteps, spreadMask } from './spread-mask.ts'

/** Between the texts of a message, as services see it. */
const SEPARATOR = ' '
/** APIs refuse empty texts of messages. */
const JOINING: Joining = { separator: SEPARATOR, covered: '<masked>' }

/** The texts of a message as one. Yields between them. */
export function joinTexts(texts: readonly { readonly text: string }[], pace: Pace): Steps<string> {
  return joinInSteps(texts, SEPARATOR, pace)
}

/** The work for a text besides that for its characters. */
const WORK_PER_TEXT = 32
/** So many characters are compared or searched in the time for one unit of work. */
const COMPARED_PER_WORK = 8

/**
 * Changes texts so that they are `after` when joined with the separator. Boundaries between texts that can be found again in it are
 * kept, so that each text keeps its own masks. The time is linear in the length of the texts.
 * @returns false if a text with a changed range cannot change
 */
export function* maskJoined(texts: readonly ChangeableText[], after: string, pace: Pace): Steps<boolean> {
  const before = yield* joinTexts(texts, pace)
  if (before === after) return true
  const search = new BoundarySearch(before, after)
  let first = 0
  for (let index = 0; index < texts.length - 1; index++) {
    const { length } = texts[index]!.text
    if (pace.after(WORK_PER_TEXT + length / COMPARED_PER_WORK)) yield
    const found = yield* search.next(length, texts[index + 1]!.text.length, pace)
    if (found === undefined) continue
    if (!(yield* spreadMask(texts.slice(first, index + 1), JOINING, found, pace))) return false
    first = index + 1
  }
  return yield* spreadMask(texts.slice(first), JOINING, search.rest, pace)
}

/** How much text on both sides of a boundary, or on one, identifies it. */
const CONTEXTS = [24, 12, 6, 3].flatMap((length) => [
  { left: length, right: length },
  { left: length, right: 0 },
  { left: 0, right: length },
])

/** How many characters may be searched for each character, and for each text. Boundaries that need more are not found. */
const SEARCHED_PER_CHARACTER = 64
const SEARCHED_PER_TEXT = 4096

/** How much a text may grow by its masks before its end is no longer found: a factor, and additional characters. */
const GROWTH = 2
const MORE = 64

/** Finds the boundaries between joined texts in their masked form, one after the other. */
class BoundarySearch {
  readonly #before: string
  readonly #after: string
  /** Behind the last boundary that was found, in both. */
  #start = 0
  #from = 0
  /** The end of the last text before the mask. */
  #at = -SEPARATOR.length
  #credit = 0

  constructor(before: string, after: string) {
    this.#before = before
    this.#after = after
  }

  /** The masked text behind the last boundary. */
  get rest(): string {
    return this.#after.slice(this.#from)
  }

  /** @returns the masked text between the last boundary and that behind the next text; undefined if it cannot be found */
  *next(length: number, nextLength: number, pace: Pace): Steps<string | undefined> {
    const begin = this.#at + SEPARATOR.length
    this.#at = begin + length
    this.#credit += SEARCHED_PER_TEXT + length * SEARCHED_PER_CHARACTER
    const isSame = begin === this.#start && this.#after.startsWith(this.#before.slice(begin, this.#at + 1), this.#from)
    const found = isSame ? this.#from + length : yield* this.#find(length, nextLength, pace)
    if (found < 0) return undefined
    const masked = this.#after.slice(this.#from, found)
    this.#from = found + SEPARATOR.length
    this.#start = this.#at + SEPARATOR.length
    return masked
  }

  /** By text around it that occurs once in both, as far as the masked text may have moved. */
  *#find(length: number, nextLength: number, pace: Pace): Steps<number> {
    const reach = (this.#at - this.#start) * GROWTH + MORE
    const after = this.#after.slice(this.#from, this.#from + reach)
    const before = this.#before.slice(this.#start, this.#at + reach)
    for (const { left, right } of CONTEXTS) {
      if (this.#credit <= 0) return -1
      const from = this.#at - Math.min(left, length)
      const context = this.#before.slice(from, this.#at + SEPARATOR.length + Math.min(right, nextLength))
      const found = onlyIndexOf(after, context)
      const isFound = found >= 0 && onlyIndexOf(before, context) >= 0
      const searched = after.length + (found >= 0 ? before.length : 0)
      this.#credit -= searched
      if (pace.after(searched / COMPARED_PER_WORK)) yield
      if (isFound) return this.#from + found + (this.#at - from)
    }
    return -1
  }
}

function onlyIndexOf(text: string, part: string): number {
  const index = text.indexOf(part)
  return index >= 0 && text.indexOf(part, index + 1) < 0 ? index : -1
}
