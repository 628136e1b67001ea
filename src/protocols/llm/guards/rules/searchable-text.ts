import type { SearchInSteps } from '#base/pattern/text-scanner.ts'
import type { TextRule } from './text-rule.ts'

/** A digit and at least six more digits, or signs that are written between them. */
const NUMBER = /\d[\d ().-]{6}/

/** Longer texts are left to the rules, whose searches can be interrupted. */
const MAX_LENGTH = 262_144

/** Whether a numeric rule may match. */
export function mayHaveNumber(text: string): boolean {
  return text.length > MAX_LENGTH || NUMBER.test(text)
}

/** A text that several rules search. What they ask of it is found out once. */
export class SearchableText {
  #text: string
  #mayHaveNumber: boolean | undefined

  constructor(text: string) {
    this.#text = text
  }

  get text(): string {
    return this.#text
  }

  set text(text: string) {
    this.#text = text
    this.#mayHaveNumber = undefined
  }

  /** The matches of a rule. Undefined: there can be none. */
  search(rule: TextRule): SearchInSteps | undefined {
    if (rule.isNumeric) {
      this.#mayHaveNumber ??= mayHaveNumber(this.#text)
      if (!this.#mayHaveNumber) return undefined
    }
    return rule.search(this.#text)
  }
}
