import { Pace, runAtOnce, type Steps } from '#base/in-slices.ts'
import { orderInSteps } from '#base/order-in-steps.ts'
import type { OwnPattern } from '#base/pattern/own-pattern.ts'
import { PatternScanner } from '#base/pattern/pattern-scanner.ts'
import type { Match, ScannedMatch, SearchInSteps, TextScanner } from '#base/pattern/text-scanner.ts'
import type { TextRule } from './text-rule.ts'

/**
 * Finds the matches within a candidate, by positions in it. May take 1 ms.
 * @param before the UTF-16 unit before the candidate; empty at the beginning of the text
 */
export type CheckCandidate = (candidate: string, before: string) => readonly Match[]

const WHOLE = { limit: Number.POSITIVE_INFINITY, wholeMatches: true }

/**
 * A rule whose matches are found by several bounded patterns, or checked by more than a pattern. Matches that overlap are one.
 */
export class CandidateRule implements TextRule {
  readonly placeholder: string
  readonly label: string
  readonly isNumeric: boolean
  readonly quiet: Uint8Array
  readonly #patterns: readonly OwnPattern[]
  readonly #check: CheckCandidate

  constructor(
    about: Omit<TextRule, 'search' | 'scan' | 'quiet'>,
    patterns: readonly OwnPattern[],
    check: CheckCandidate = (candidate) => [{ start: 0, end: candidate.length }],
  ) {
    this.placeholder = about.placeholder
    this.label = about.label
    this.isNumeric = about.isNumeric
    this.#patterns = patterns
    this.#check = check
    this.quiet = quietForAll(patterns.map(({ automaton }) => automaton))
  }

  *search(text: string): SearchInSteps {
    const found: Match[] = []
    for (const pattern of this.#patterns) {
      for (const candidate of yield* pattern.search(text)) {
        found.push(...this.#matchesIn(text, candidate, 0))
        yield
      }
    }
    return yield* mergeMatches(found, new Pace())
  }

  scan(): TextScanner {
    return new CandidateScanner(
      this.#patterns.map(({ automaton }) => new PatternScanner(automaton, WHOLE)),
      (text, candidate, base) => this.#matchesIn(text, candidate, base),
    )
  }

  /** @param base position of the first unit of `text` */
  #matchesIn(text: string, { start, end }: Match, base: number): Match[] {
    const inside = this.#check(text.slice(start - base, end - base), text.charAt(start - base - 1))
    return inside.map((match) => ({ start: match.start + start, end: match.end + start }))
  }
}

/** By code point below 256: 1 if no match of any pattern begins there. */
export function quietForAll(all: readonly { readonly quiet: Uint8Array }[]): Uint8Array {
  return new Uint8Array(256).map((_, unit) => (all.every(({ quiet }) => quiet[unit] === 1) ? 1 : 0))
}

class CandidateScanner implements TextScanner {
  settled = 0
  readonly overran = false
  readonly #scanners: readonly PatternScanner[]
  readonly #matchesIn: (text: string, candidate: Match, base: number) => Match[]
  #text = ''
  #base = 0
  /** Matches that another pattern may still extend. */
  #pending: Match[] = []
  #found: ScannedMatch[] = []

  constructor(
    scanners: readonly PatternScanner[],
    matchesIn: (text: string, candidate: Match, base: number) => Match[],
  ) {
    this.#scanners = scanners
    this.#matchesIn = matchesIn
  }

  get isIdle(): boolean {
    if (this.#pending.length > 0) return false
    for (const { isIdle } of this.#scanners) if (!isIdle) return false
    return true
  }

  skip(text: string): void {
    for (const scanner of this.#scanners) scanner.skip(text)
    this.settled += text.length
    this.#text = text.charAt(text.length - 1)
    this.#base = this.settled - 1
  }

  push(text: string): void {
    this.#text += text
    for (const scanner of this.#scanners) scanner.push(text)
    this.#collect()
  }

  finish(): void {
    for (const scanner of this.#scanners) scanner.finish()
    this.#collect()
  }

  takeMatches(): readonly ScannedMatch[] {
    const found = this.#found
    if (found.length > 0) this.#found = []
    return found
  }

  #collect(): void {
    let settled = Number.POSITIVE_INFINITY
    for (const scanner of this.#scanners) {
      for (const candidate of scanner.takeMatches()) {
        this.#pending.push(...this.#matchesIn(this.#text, candidate, this.#base))
      }
      settled = Math.min(settled, scanner.settled)
    }
    if (this.#pending.length > 0) {
      const merged = runAtOnce(mergeMatches(this.#pending, new Pace()))
      const open = merged.findIndex(({ end }) => end > settled)
      const closed = open < 0 ? merged : merged.slice(0, open)
      this.#found.push(...closed.map((match) => ({ ...match, continues: false })))
      this.#pending = merged.slice(closed.length)
    }
    this.settled = Math.min(settled, this.#pending[0]?.start ?? settled)
    const dropped = this.settled - 1 - this.#base
    if (dropped <= 0) return
    this.#text = this.#text.slice(dropped)
    this.#base += dropped
  }
}

/** Matches in order; those that overlap are one. Yields between them. */
function* mergeMatches(matches: readonly Match[], pace: Pace): Steps<readonly Match[]> {
  const merged: Match[] = []
  for (const match of yield* orderInSteps(matches, pace)) {
    if (pace.after(1)) yield
    const last = merged.at(-1)
    if (last === undefined || match.start >= last.end) merged.push(match)
    else if (match.end > last.end) merged[merged.length - 1] = { start: last.start, end: match.end }
  }
  return merged
}
