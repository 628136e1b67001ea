import type { RE2JS } from 're2js'
import { compilePattern as compileRe2, describePatternFault } from '#base/pattern.ts'
import { charge } from '../budget.ts'
import { CelError } from '../error.ts'
import { WEIGHTS } from '../weights.ts'

/** Maximum length of a pattern: the size of the compiled program grows with it. */
const MAX_PATTERN = 4096
const TOO_LONG = new CelError('limit', 'regular expression is too long')

/** A regular expression in RE2 syntax. Time and steps are linear in the length of the text. */
export interface Pattern {
  test(text: string): boolean
  /** A matcher positioned at the first match. */
  find(text: string): ReturnType<RE2JS['matcher']> | undefined
}

/** Compiles a constant pattern, once. @returns an error if RE2 refuses it */
export function compilePattern(pattern: string): Pattern | CelError {
  if (pattern.length > MAX_PATTERN) return TOO_LONG
  const compiled = compileRe2(pattern)
  return compiled === undefined
    ? new CelError('invalid', `regular expression: ${describePatternFault(pattern)}`)
    : prepare(compiled)
}

/** Computed patterns are cached for later evaluations. */
const cache = new Map<string, Pattern | CelError>()
const MAX_CACHED = 200
const INVALID = new CelError('invalid', 'not a regular expression')

/** Compiles a computed pattern. A cached one is charged the same steps, which must not depend on the cache. */
export function computedPattern(text: string): Pattern | CelError {
  if (text.length > MAX_PATTERN) throw TOO_LONG
  charge(compilationSteps(text))
  const known = cache.get(text)
  if (known !== undefined) return known
  if (cache.size >= MAX_CACHED) cache.clear()
  const compiled = compileRe2(text)
  const pattern = compiled === undefined ? INVALID : prepare(compiled)
  cache.set(text, pattern)
  return pattern
}

/** Braces repeat the preceding item; RE2 allows 1000 repetitions in total. */
const REPETITION = /\{(\d{1,4})(?:,(\d{0,4}))?\}/g
const MAX_REPEATED = 1000

function compilationSteps(pattern: string): number {
  let repeated = 1
  for (const [, least, most] of pattern.matchAll(REPETITION)) {
    repeated = Math.min(MAX_REPEATED, repeated * Math.max(1, Number(least), Number(most ?? 0)))
  }
  const classes = pattern.split(/\\p/i).length - 1
  return (pattern.length * WEIGHTS.patternUnit + classes * WEIGHTS.patternClass) * repeated
}

function prepare(compiled: RE2JS): Pattern {
  const searched = WEIGHTS.searchedUnit + compiled.programSize() * WEIGHTS.searchedInstruction
  const search: Pattern['find'] = (text) => {
    charge((text.length + 1) * searched)
    const matcher = compiled.matcher(text)
    return matcher.find() ? matcher : undefined
  }
  if (!hasSmallAutomaton(compiled)) return { test: (text) => search(text) !== undefined, find: search }
  const test: Pattern['test'] = (text) => {
    charge(text.length * WEIGHTS.matchedUnit)
    return compiled.test(text)
  }
  return { test, find: (text) => (test(text) ? search(text) : undefined) }
}

/** Internals of the RE2 library: the automaton that `test()` builds while it reads text. */
interface Internals {
  readonly re2Input: { readonly dfa: Automaton; onepass: unknown }
}

interface Automaton {
  /** The library cannot build the automaton. */
  readonly failed: boolean
  readonly prog: { readonly start: number }
  readonly classBounds: Int32Array
  readonly numClasses: number
  makeState(starts: readonly number[], flags: number, ids: readonly number[]): State | null
  step(state: State, runeClass: number, rune: number, anchor: number): State | null
}

type State = object

const MAX_TRANSITIONS = 4096
const END_OF_TEXT = -1
const UNANCHORED = 0
/** Flags: at the beginning of the text and of a line. */
const AT_BEGINNING = 1 | 4

/**
 * Whether the automaton of a pattern has few states, so that each unit of a text takes the same short time. A large automaton is built
 * while the text is read, which takes a thousand times as long. All states of a small one are built here.
 */
function hasSmallAutomaton(pattern: RE2JS): boolean {
  const { re2Input } = pattern as unknown as Internals
  const { dfa } = re2Input
  const start = dfa.makeState([dfa.prog.start], AT_BEGINNING, [])
  if (dfa.failed || start === null) return false
  const states = new Set([start])
  let transitions = 0
  for (const state of states) {
    for (let runeClass = 0; runeClass <= dfa.numClasses; runeClass++) {
      if (++transitions > MAX_TRANSITIONS) return false
      const rune = runeClass === dfa.numClasses ? END_OF_TEXT : runeClass === 0 ? 0 : dfa.classBounds[runeClass - 1]!
      const next = dfa.step(state, runeClass, rune, UNANCHORED)
      if (next === null) return false
      states.add(next)
    }
  }
  // For some patterns the library would use another, slower engine.
  re2Input.onepass = null
  return true
}
