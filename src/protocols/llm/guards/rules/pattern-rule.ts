import type { Automaton } from '#base/pattern/automaton.ts'
import { type NearCharacter, PatternScanner } from '#base/pattern/pattern-scanner.ts'
import type { Match, SearchInSteps, TextScanner } from '#base/pattern/text-scanner.ts'
import { NO_MATCHES, runSteps, type TextRule } from './text-rule.ts'

/** Bytes of a stream that a pattern without a longest match may hold back (decision B46). */
const HELD_UNBOUNDED = 256
/** The same for a pattern with a longest match, which is held in full up to here. */
const HELD_BOUNDED = 4096

/** A rule whose matches are those of one pattern in RE2 syntax. */
export class PatternRule implements TextRule {
  readonly placeholder: string
  readonly label: string
  readonly #automaton: Automaton
  readonly #near: NearCharacter | undefined
  readonly #limit: number

  constructor(names: Pick<TextRule, 'placeholder' | 'label'>, automaton: Automaton, near?: NearCharacter) {
    this.placeholder = names.placeholder
    this.label = names.label
    this.#automaton = automaton
    this.#near = near
    const { maxBytes } = automaton.program
    this.#limit = maxBytes === Number.POSITIVE_INFINITY ? HELD_UNBOUNDED : Math.min(maxBytes, HELD_BOUNDED)
  }

  matches(text: string): boolean {
    if (!this.#canMatch(text)) return false
    const scanner = this.#scanWith(Number.POSITIVE_INFINITY)
    for (let from = 0; from < text.length; from += PIECE) {
      scanner.push(text.slice(from, from + PIECE))
      if (scanner.takeMatches().length > 0) return true
    }
    scanner.finish()
    return scanner.takeMatches().length > 0
  }

  findMatches(text: string): readonly Match[] {
    return this.#canMatch(text) ? runSteps(this.#scanWith(Number.POSITIVE_INFINITY).search(text)) : NO_MATCHES
  }

  *findInSteps(text: string): SearchInSteps {
    if (!this.#canMatch(text)) return NO_MATCHES
    return yield* this.#scanWith(Number.POSITIVE_INFINITY).search(text)
  }

  scan(): TextScanner {
    return this.#scanWith(this.#limit)
  }

  #scanWith(limit: number): PatternScanner {
    return new PatternScanner(this.#automaton, { limit, near: this.#near })
  }

  /** Most texts contain no match, and most of those do not contain the literal either. */
  #canMatch(text: string): boolean {
    return text.includes(this.#near?.character ?? this.#automaton.program.prefix)
  }
}

/** After so many units, `matches` looks whether it has found something. */
const PIECE = 4096
