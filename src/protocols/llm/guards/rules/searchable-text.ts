import type { SearchInSteps } from '#base/pattern/text-scanner.ts'
import type { TextRule } from './text-rule.ts'

/** A digit and at least six more digits, or signs that are written between them. */
const NUMBER = /\d[\d ().-]{6}/

/** Longer texts are not tested here, because only the searches of rules can be interrupted. */
const MAX_LENGTH = 262_144

/** Whether a numeric rule may match. */
export function mayHaveNumber(text: string): boolean {
  return text.length > MAX_LENGTH || NUMBER.test(text)
}

const HAS_CHANGED = 1
const NUMBER_IS_KNOWN = 2
const MAY_HAVE_NUMBER = 4
/** The first flag for subclasses. */
export const FREE_FLAG = 8

/** A text that several rules search. Facts that they share are computed once. A body may have very many texts, so that each is a small object. */
export class SearchableText {
  #text: string
  #flags: number

  constructor(text: string, flags = 0) {
    this.#text = text
    this.#flags = flags
  }

  /** The text differs from the original. */
  get hasChanged(): boolean {
    return this.has(HAS_CHANGED)
  }

  get text(): string {
    return this.#text
  }

  set text(text: string) {
    if (text === this.#text) return
    this.#text = text
    this.#flags = (this.#flags | HAS_CHANGED) & ~NUMBER_IS_KNOWN
  }

  /** The matches of a rule. Undefined: there can be none. */
  search(rule: TextRule): SearchInSteps | undefined {
    if (rule.isNumeric && !this.#mayHaveNumber) return undefined
    return rule.search(this.#text)
  }

  protected has(flag: number): boolean {
    return (this.#flags & flag) !== 0
  }

  get #mayHaveNumber(): boolean {
    if (!this.has(NUMBER_IS_KNOWN)) {
      const found = mayHaveNumber(this.#text) ? MAY_HAVE_NUMBER : 0
      this.#flags = (this.#flags & ~MAY_HAVE_NUMBER) | NUMBER_IS_KNOWN | found
    }
    return this.has(MAY_HAVE_NUMBER)
  }
}
