import type { Automaton } from '#base/pattern/automaton.ts'
import { type NearCharacter, PatternScanner } from '#base/pattern/pattern-scanner.ts'
import type { SearchInSteps, TextScanner } from '#base/pattern/text-scanner.ts'
import type { TextRule } from './text-rule.ts'

/** Bytes of a stream that a pattern may hold back if the length of its matches is unlimited (decision B46). */
const HELD_UNBOUNDED = 256
/** The same for other patterns: a longest match up to this length is held in full. */
const HELD_BOUNDED = 4096

/** A pattern in RE2 syntax. */
export interface RulePattern {
  readonly automaton: Automaton
  readonly near?: NearCharacter | undefined
  /** Finds all matches in a whole text, faster than the automaton. */
  search?(text: string): SearchInSteps
}

/** A rule whose matches are those of one pattern. */
export class PatternRule implements TextRule {
  readonly placeholder: string
  readonly label: string
  readonly isNumeric: boolean
  readonly #pattern: RulePattern
  readonly #limit: number

  constructor(about: Omit<TextRule, 'search' | 'scan' | 'quiet'>, pattern: RulePattern) {
    this.placeholder = about.placeholder
    this.label = about.label
    this.isNumeric = about.isNumeric
    this.#pattern = pattern
    const { maxBytes } = pattern.automaton.program
    this.#limit = maxBytes === Number.POSITIVE_INFINITY ? HELD_UNBOUNDED : Math.min(maxBytes, HELD_BOUNDED)
  }

  get quiet(): Uint8Array | undefined {
    const { automaton, near } = this.#pattern
    return near === undefined ? automaton.quiet : undefined
  }

  search(text: string): SearchInSteps | undefined {
    const { automaton, near } = this.#pattern
    // Most texts contain no match, and most of those do not contain the literal either.
    if (!text.includes(near?.character ?? automaton.program.prefix)) return undefined
    return this.#pattern.search?.(text) ?? this.#scanWith(Number.POSITIVE_INFINITY).search(text)
  }

  scan(): TextScanner {
    return this.#scanWith(this.#limit)
  }

  #scanWith(limit: number): PatternScanner {
    const { automaton, near } = this.#pattern
    return new PatternScanner(automaton, { limit, near })
  }
}
