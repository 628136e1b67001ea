import { compilePattern } from '../pattern.ts'
import { Automaton } from './automaton.ts'
import { type NearCharacter, PatternScanner } from './pattern-scanner.ts'
import type { Match, SearchInSteps } from './text-scanner.ts'

/** A pattern that is found by one of its characters. */
export interface PatternAround {
  /** A class of characters without `character`: one to `atMost` of them stand before it. */
  readonly before: string
  readonly atMost: number
  readonly character: string
  /** What follows the character, and does not contain it. */
  readonly after: string
}

/** Units that are searched between two yields: a millisecond at most. */
const UNITS_PER_STEP = 32_768

/**
 * A pattern of the program, in RE2 syntax that the engine of the runtime reads in the same way. That engine searches whole texts, and the automaton
 * those that arrive in pieces: only it tells where a match may still begin. Nothing but the end of the pattern is repeated without a bound, so that
 * the engine takes a bounded number of steps for each position and unit of a match, though it backtracks.
 */
export class OwnPattern {
  readonly automaton: Automaton
  readonly near: NearCharacter | undefined
  readonly #expression: RegExp
  /** Units before a position that decide whether the expression matches there. */
  readonly #context: number

  constructor(pattern: string | PatternAround) {
    const { source, expression, near } = typeof pattern === 'string' ? plain(pattern) : around(pattern)
    const compiled = compilePattern(source)
    if (compiled === undefined) throw new Error(`broken pattern: ${source}`)
    this.automaton = new Automaton(compiled)
    this.near = near
    this.#expression = new RegExp(expression, 'g')
    this.#context = near?.within ?? 1
  }

  /** All matches in a whole text. */
  *search(text: string): SearchInSteps {
    const expression = this.#expression
    const longest = Math.min(this.automaton.program.maxBytes, UNITS_PER_STEP)
    const found: Match[] = []
    for (let from = 0, ended = 0; from < text.length; ) {
      const to = from + UNITS_PER_STEP
      const base = Math.max(0, from - this.#context)
      const part = text.slice(base, to + longest)
      expression.lastIndex = from - base
      for (let match = expression.exec(part); match !== null; match = expression.exec(part)) {
        const at = base + match.index
        if (at >= to) break
        const start = Math.max(ended, at - (match[1]?.length ?? 0))
        const end = at + match[0].length
        // All that stands before the character belongs to the last match.
        if (start === at && this.near !== undefined) continue
        if (end === base + part.length && end < text.length) return yield* this.#searchUnbounded(text)
        found.push({ start, end })
        ended = end
      }
      from = Math.max(to, ended)
      yield
    }
    return found
  }

  /** A match may be as long as the text. */
  #searchUnbounded(text: string): SearchInSteps {
    return new PatternScanner(this.automaton, { limit: Number.POSITIVE_INFINITY, near: this.near }).search(text)
  }
}

interface Forms {
  /** In RE2 syntax. */
  readonly source: string
  /** For the engine of the runtime. The first group of a match is what belongs to it before its index. */
  readonly expression: string
  readonly near: NearCharacter | undefined
}

function plain(source: string): Forms {
  return { source, expression: source, near: undefined }
}

function around({ before, atMost, character, after }: PatternAround): Forms {
  const left = `${before}{1,${atMost}}`
  return {
    source: left + character + after,
    // The character first: the engine would try the class at each position.
    expression: `${character}(?<=(${left})${character})${after}`,
    near: { character, within: atMost },
  }
}
