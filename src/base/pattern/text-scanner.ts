import type { Steps } from '../in-slices.ts'

/** A match from `start` to `end`, in UTF-16 units; never empty. */
export interface Match {
  readonly start: number
  readonly end: number
}

/** A match, or what continues the last one: its beginning was reported when it was certain. */
export interface ScannedMatch extends Match {
  readonly continues: boolean
}

/** Finds matches in a text that arrives in pieces: the same as in the whole text. */
export interface TextScanner {
  push(text: string): void
  finish(): void
  /** All text before this position is settled: it is known whether it belongs to a match. */
  readonly settled: number
  /** All text so far is settled, and nothing of it is part of a match that may go on. */
  readonly isIdle: boolean
  /** The same as `push`, for text in which no match begins; only if the scanner is idle. */
  skip(text: string): void
  /** The matches that were settled since the last call, in order. */
  takeMatches(): readonly ScannedMatch[]
  /** A match begins in text that was settled before the match was certain, because no more text may be held. */
  readonly overran: boolean
}

/** A search through a whole text, in steps: each takes a few milliseconds at most, then it yields. */
export type SearchInSteps = Steps<readonly Match[]>
