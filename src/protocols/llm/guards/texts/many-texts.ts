import { Pace, type Steps } from '#base/in-slices.ts'
import type { Match, SearchInSteps } from '#base/pattern/text-scanner.ts'
import { mayHaveNumber } from '../rules/searchable-text.ts'
import type { TextRule } from '../rules/text-rule.ts'
import { GuardedText, replaceMatches } from './guarded-text.ts'

/** Between two texts. */
const SEPARATOR = '\n'

/** The work for a text besides that for its characters. */
const WORK_PER_TEXT = 32
/** How many characters are copied, or searched for a literal, in the time of one unit of work. */
const LOOKED_THROUGH = 16

/**
 * Very many texts that are searched and masked one by one, such as the strings in the arguments of a call. They are stored as one string with
 * positions, because many objects make garbage collections slow. Services see the whole string, and cannot mask it.
 */
export class ManyTexts extends GuardedText {
  /** The end of each text; the separator follows it. */
  readonly #ends: Int32Array
  /** 1: the text cannot change. */
  readonly #fixed: Uint8Array
  /** 1: it has changed. */
  readonly #changed: Uint8Array

  constructor(text: string, ends: Int32Array, fixed: Uint8Array) {
    super(text, false)
    this.#ends = ends
    this.#fixed = fixed
    this.#changed = new Uint8Array(ends.length)
  }

  override get length(): number {
    return this.text.length - (this.#ends.length - 1)
  }

  /** A text as it is now; undefined if it has not changed. */
  changedAt(index: number): string | undefined {
    if (this.#changed[index] === 0) return undefined
    return this.text.slice((this.#ends[index - 1] ?? -1) + 1, this.#ends[index])
  }

  /** The matches in each text, by positions in the whole string. */
  override search(rule: TextRule): SearchInSteps | undefined {
    // A literal that is not in the whole string is in none of its texts.
    return super.search(rule) && this.#searchEach(rule)
  }

  *#searchEach(rule: TextRule): SearchInSteps {
    const pace = new Pace()
    const found: Match[] = []
    let from = 0
    for (const end of this.#ends) {
      const text = this.text.slice(from, end)
      const search = rule.isNumeric && !mayHaveNumber(text) ? undefined : rule.search(text)
      if (pace.after(WORK_PER_TEXT + text.length / LOOKED_THROUGH)) yield
      if (search !== undefined) {
        for (const match of yield* search) found.push({ start: from + match.start, end: from + match.end })
        if (pace.after(text.length)) yield
      }
      from = end + SEPARATOR.length
    }
    return found
  }

  /** Whether all matches are in texts that can change. Yields between texts. @param matches ascending */
  *canMask(matches: readonly Match[], pace: Pace): Steps<boolean> {
    let index = 0
    for (const { start } of matches) {
      for (; this.#ends[index]! <= start; index++) if (pace.after(1)) yield
      if (this.#fixed[index] === 1) return false
    }
    return true
  }

  override *mask(matches: readonly Match[], placeholder: string, pace: Pace): Steps<void> {
    const text = yield* replaceMatches(this.text, matches, placeholder, pace)
    let next = 0
    let moved = 0
    for (const [index, end] of this.#ends.entries()) {
      for (; next < matches.length && matches[next]!.start < end; next++) {
        moved += placeholder.length - (matches[next]!.end - matches[next]!.start)
        this.#changed[index] = 1
      }
      this.#ends[index] = end + moved
      if (pace.after(1)) yield
    }
    this.text = text
  }
}

/** Texts that are joined at a time. */
const JOINED = 1024

/** Puts texts together, one by one. */
export class ManyTextsBuilder {
  readonly #parts: string[] = []
  #open: string[] = []
  #ends = new Int32Array(8 * JOINED)
  #fixed = new Uint8Array(8 * JOINED)
  #count = 0
  #length = 0

  add(text: string, canChange: boolean): void {
    if (this.#count === this.#ends.length) this.#grow()
    if (this.#count > 0) this.#length += SEPARATOR.length
    this.#length += text.length
    this.#ends[this.#count] = this.#length
    this.#fixed[this.#count] = canChange ? 0 : 1
    this.#count++
    this.#open.push(text)
    if (this.#open.length === JOINED) this.#join()
  }

  build(): ManyTexts {
    if (this.#open.length > 0) this.#join()
    const text = this.#parts.join(SEPARATOR)
    return new ManyTexts(text, this.#ends.slice(0, this.#count), this.#fixed.slice(0, this.#count))
  }

  #join(): void {
    this.#parts.push(this.#open.join(SEPARATOR))
    this.#open = []
  }

  #grow(): void {
    const [ends, fixed] = [this.#ends, this.#fixed]
    this.#ends = new Int32Array(2 * this.#count)
    this.#ends.set(ends)
    this.#fixed = new Uint8Array(2 * this.#count)
    this.#fixed.set(fixed)
  }
}
