import { Pace, runAtOnce } from '#base/in-slices.ts'
import type { Match, ScannedMatch, TextScanner } from '#base/pattern/text-scanner.ts'
import { mergeMatches } from './merge-matches.ts'

/** A text that has left, of which a match may still be found. Positions are those of a scanner. */
export interface LeftText extends Match {
  /** What was masked of it, as far as it matters. Undefined: only a match that goes on behind it matters, because it is checked by other rules. */
  readonly masked: readonly Match[] | undefined
}

/** How the search for one rule goes on behind a text. */
export interface RuleChain {
  /** Never changed: what follows goes on with a fork of it. */
  readonly scanner: TextScanner
  /** Where it goes on. */
  readonly length: number
  /** Texts that are not settled, in order. */
  readonly left: readonly LeftText[]
}

export interface JoinedScannerOptions {
  /** The search in the text alone. */
  readonly alone: RuleChain
  /** The text goes on with one that has left, which is the last one of those before it. */
  readonly isOwn: boolean
  /** The searches in other texts and this one. */
  readonly joined: readonly RuleChain[]
}

/** A search in the text: alone, or behind others. */
interface Source {
  readonly scanner: TextScanner
  /** Where the text begins. */
  readonly offset: number
  readonly left: readonly LeftText[]
  /** Where its last match begins. */
  matchStart: number
  /** Its last match belongs to the open group. */
  isInGroup: boolean
}

interface Piece extends ScannedMatch {
  readonly source: Source
}

/** The beginning of a text that seemed to be over. Positions are those behind it. */
interface OwnPart {
  /** Shares of the matches that are found now. */
  readonly shares: Match[]
  /** Up to where it was settled when it seemed to be over. */
  readonly settled: number
}

/**
 * Finds the matches in a text alone, and its shares of matches in texts that are read together with it. Matches that overlap are one. If one
 * would change a text that has left, the scanner has overrun.
 */
export class JoinedScanner implements TextScanner {
  settled = 0
  #overran = false
  readonly #isOwn: boolean
  /** The search in the text alone is the first one. */
  #sources: readonly Source[]
  /** By number of the chain that was given; undefined: it finds what the first source finds. */
  #joined: readonly (Source | undefined)[]
  /** Not yet in groups, in the order of their beginnings. */
  #pieces: Piece[] = []
  /** Matches that overlap: where they begin, where they end so far, and what of them was reported. */
  #groupStart = 0
  #groupEnd = 0
  #reported = 0
  /** The open group continues a mask in the part of the text that has already left. */
  #goesOn = false
  /** What is known of that part; undefined: it has already been compared with its masks. */
  #own: OwnPart | undefined
  #found: ScannedMatch[] = []

  constructor({ alone, isOwn, joined }: JoinedScannerOptions) {
    const sources = joined.map(sourceOf)
    this.#isOwn = isOwn
    this.#joined = sources
    this.#sources = [sourceOf(alone), ...sources]
    this.#own = isOwn ? { shares: [], settled: alone.scanner.settled - alone.length } : undefined
    this.#dropAgreeing()
  }

  /** Whether searches behind other texts find what that in the text alone finds, whatever the text is. */
  static isNeedless(alone: TextScanner, joined: readonly RuleChain[]): boolean {
    return joined.every(({ scanner, length }) => scanner.agreesWith(alone, length))
  }

  get overran(): boolean {
    return this.#overran || this.#sources.some(({ scanner }) => scanner.overran)
  }

  /** Texts before this one can still change the matches. */
  get isJoined(): boolean {
    return this.#sources.length > 1
  }

  /** The search in the text alone, if nothing else matters any more and its positions are those of the text. */
  get alone(): TextScanner | undefined {
    const { scanner, offset } = this.#sources[0]!
    return this.overran || this.isJoined || offset > 0 || this.#hasOpen ? undefined : scanner
  }

  get #hasOpen(): boolean {
    return this.#own !== undefined || this.#pieces.length > 0 || this.#reported < this.#groupEnd
  }

  get isIdle(): boolean {
    return !this.isJoined && !this.#hasOpen && this.#sources[0]!.scanner.isIdle
  }

  skip(text: string): void {
    this.#sources[0]!.scanner.skip(text)
    this.settled += text.length
  }

  push(text: string): void {
    for (const { scanner } of this.#sources) scanner.push(text)
    this.#collect(false)
    this.#dropAgreeing()
  }

  /** The searches in several texts do not end with this one. */
  finish(): void {
    this.#sources[0]!.scanner.finish()
    this.#collect(true)
  }

  takeMatches(): readonly ScannedMatch[] {
    const found = this.#found
    if (found.length > 0) this.#found = []
    return found
  }

  fork(): JoinedScanner {
    const [first, ...others] = this.#sources.map((source) => ({ ...source, scanner: source.scanner.fork() }))
    const forkOf = new Map(this.#sources.map((source, index) => [source, [first!, ...others][index]!]))
    const fork = new JoinedScanner({
      alone: { scanner: first!.scanner, length: 0, left: [] },
      isOwn: this.#isOwn,
      joined: [],
    })
    fork.settled = this.settled
    fork.#overran = this.#overran
    fork.#sources = [first!, ...others]
    fork.#joined = this.#joined.map((source) => source && forkOf.get(source))
    fork.#pieces = this.#pieces.map((piece) => ({ ...piece, source: forkOf.get(piece.source) ?? piece.source }))
    fork.#groupStart = this.#groupStart
    fork.#groupEnd = this.#groupEnd
    fork.#reported = this.#reported
    fork.#goesOn = this.#goesOn
    fork.#own = this.#own && { ...this.#own, shares: [...this.#own.shares] }
    fork.#found = [...this.#found]
    return fork
  }

  agreesWith(): boolean {
    return false
  }

  /**
   * The chains that go on behind the text: that of the text alone first, then those that were given. To be called before the end of the text.
   * @param length of the text
   * @returns a function that makes them from the masks of the text
   */
  chains(length: number): (masked: readonly ScannedMatch[]) => readonly RuleChain[] {
    const forks = this.#sources.map(({ scanner }) => scanner.fork())
    return (masked) => {
      const made = this.#sources.map((source, index) =>
        chainOf(source, forks[index]!, { length, masked, isOwn: this.#isOwn }),
      )
      const bySource = new Map(this.#sources.map((source, index) => [source, made[index]!]))
      return [made[0]!, ...this.#joined.map((source) => (source && bySource.get(source)) ?? made[0]!)]
    }
  }

  /** What a search finds after it has agreed with that in the text alone is the same. */
  #dropAgreeing(): void {
    const [first, ...others] = this.#sources as [Source, ...Source[]]
    const left = others.filter(({ scanner, offset }) => !scanner.agreesWith(first.scanner, offset - first.offset))
    if (left.length === others.length) return
    this.#sources = [first, ...left]
    this.#joined = this.#joined.map((source) => (source !== undefined && left.includes(source) ? source : undefined))
  }

  #collect(isFinished: boolean): void {
    for (const source of this.#sources) for (const match of source.scanner.takeMatches()) this.#take(source, match)
    const settled = isFinished ? settledOf(this.#sources[0]!) : Math.min(...this.#sources.map(settledOf))
    if (settled < 0) return
    if (this.#own !== undefined) this.#compareOwn(this.#own)
    this.#pieces.sort((one, other) => one.start - other.start || Number(other.continues) - Number(one.continues))
    let count = 0
    for (const piece of this.#pieces) {
      if (piece.start >= settled && !isFinished) break
      this.#group(piece)
      count++
    }
    if (count > 0) this.#pieces = this.#pieces.slice(count)
    this.#report(Math.min(this.#groupEnd, settled))
    this.settled = settled
  }

  #take(source: Source, { start, end, continues }: ScannedMatch): void {
    const { offset } = source
    if (!continues) source.matchStart = start
    // It was reported in a text before.
    else if (source.matchStart < 0) source.matchStart = startOfMask(source, start)
    if (source.matchStart < offset) this.#compareLeft(source, end)
    if (end <= offset) return
    const isOver = source.matchStart < offset && start <= offset
    const goesOn = isOver ? this.#isOwn : continues
    this.#pieces.push({ start: Math.max(0, start - offset), end: end - offset, continues: goesOn, source })
  }

  /** A share in a text that has left must be masked in it. */
  #compareLeft({ left, matchStart, offset }: Source, end: number): void {
    for (const text of left) {
      if (text.masked === undefined) {
        if (matchStart < text.end && end > text.end) this.#overran = true
        continue
      }
      const share = { start: Math.max(matchStart, text.start), end: Math.min(end, text.end) }
      if (share.start >= share.end) continue
      if (this.#isOwn && text === left.at(-1))
        this.#own?.shares.push({ start: share.start - offset, end: share.end - offset })
      else if (!text.masked.some((masked) => contains(masked, share))) this.#overran = true
    }
  }

  /** What was masked when the text seemed to be over must be what the search has found now. */
  #compareOwn(own: OwnPart): void {
    this.#own = undefined
    const shares = runAtOnce(mergeMatches(own.shares, new Pace()))
    // A search that has settled all of the part no longer has it.
    const { left, offset } = this.#sources.find((source) => source.left.length > 0) ?? this.#sources[0]!
    const masked = (left.at(-1)?.masked ?? []).map(({ start, end }) => ({ start: start - offset, end: end - offset }))
    const late = masked.filter(({ end }) => end > own.settled)
    const isSame =
      late.length === 0
        ? shares.every((share) => masked.some((range) => contains(range, share)))
        : late.length === shares.length &&
          late.every((range, at) => contains(range, shares[at]!) && contains(shares[at]!, range))
    if (!isSame) this.#overran = true
  }

  #group(piece: Piece): void {
    const { source, start, end, continues } = piece
    const isInside = start < this.#groupEnd || (continues && source.isInGroup)
    if (!isInside) {
      this.#report(this.#groupEnd)
      for (const each of this.#sources) each.isInGroup = false
      this.#groupStart = this.#reported = start
      this.#groupEnd = start
      this.#goesOn = continues
    }
    source.isInGroup = true
    this.#groupEnd = Math.max(this.#groupEnd, end)
  }

  #report(to: number): void {
    if (to <= this.#reported) return
    this.#found.push({ start: this.#reported, end: to, continues: this.#goesOn || this.#reported > this.#groupStart })
    this.#reported = to
  }
}

/** Whether the end of all texts changes one that has left. */
export function changesAtEnd(chain: RuleChain): boolean {
  if (chain.left.length === 0) return false
  const scanner = new JoinedScanner({ alone: chain, isOwn: false, joined: [] })
  scanner.finish()
  return scanner.overran
}

function sourceOf({ scanner, length, left }: RuleChain): Source {
  return { scanner: scanner.fork(), offset: length, left, matchStart: -1, isInGroup: false }
}

/** Where a match begins that goes on at a position. */
function startOfMask({ left }: Source, at: number): number {
  const mask = left.at(-1)?.masked?.find(({ start, end }) => start < at && end >= at)
  return mask?.start ?? Math.max(0, at - 1)
}

function settledOf({ scanner, offset }: Source): number {
  return scanner.settled - offset
}

/** The text as it is left behind. */
interface Behind {
  readonly length: number
  readonly masked: readonly ScannedMatch[]
  /** It goes on with the last of the texts before it. */
  readonly isOwn: boolean
}

function chainOf({ offset, left }: Source, scanner: TextScanner, { length, masked, isOwn }: Behind): RuleChain {
  const end = offset + length
  if (scanner.settled >= end) return { scanner, length: end, left: [] }
  const last = left.at(-1)
  const own = isOwn && last?.masked !== undefined ? last : undefined
  const before = own === undefined ? left : left.slice(0, -1)
  const moved = masked.map((range) => ({ ...range, start: range.start + offset, end: range.end + offset }))
  const text = { start: own?.start ?? offset, end, masked: joined(own?.masked ?? [], moved) }
  return { scanner, length: end, left: [...before.filter((each) => each.end > scanner.settled), text] }
}

/** The first mask of a text may continue the last one of the part before it. */
function joined(before: readonly Match[], after: readonly ScannedMatch[]): readonly Match[] {
  const [last, first] = [before.at(-1), after[0]]
  if (last === undefined || first?.continues !== true) return [...before, ...after]
  return [...before.slice(0, -1), { start: last.start, end: first.end }, ...after.slice(1)]
}

function contains(range: Match, share: Match): boolean {
  return share.start >= range.start && share.end <= range.end
}
