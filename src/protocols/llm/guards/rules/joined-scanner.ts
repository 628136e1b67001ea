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
  /** Where its last match begins. -1: it has found none. */
  matchStart: number
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
  /** By number of the chain that was given. Undefined, or not among the sources any more: it finds what the first source finds. */
  #joined: readonly (Source | undefined)[]
  /** Not yet in groups. */
  #pieces: ScannedMatch[] = []
  /** Matches that overlap: where they begin, where they end so far, and what of them was reported. -1: in the part of the text that has left. */
  #groupStart = -1
  #groupEnd = 0
  #reported = 0
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
    return this.overran || this.isJoined || offset > 0 ? undefined : scanner
  }

  get isIdle(): boolean {
    return !this.isJoined && this.#sources[0]!.scanner.isIdle
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
    this.#found = []
    return found
  }

  fork(): JoinedScanner {
    const sources = this.#sources.map((source) => ({ ...source, scanner: source.scanner.fork() }))
    const fork = new JoinedScanner({
      alone: { scanner: sources[0]!.scanner, length: 0, left: [] },
      isOwn: this.#isOwn,
      joined: [],
    })
    fork.settled = this.settled
    fork.#overran = this.#overran
    fork.#sources = sources
    fork.#joined = this.#joined.map((source) => source && sources[this.#sources.indexOf(source)])
    fork.#pieces = [...this.#pieces]
    fork.#groupEnd = this.#groupEnd
    fork.#reported = this.#reported
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
   * @returns a function that makes them from the masks of the text; undefined: as that of the text alone
   */
  chains(length: number): (masked: readonly ScannedMatch[]) => readonly (RuleChain | undefined)[] {
    const forks = this.#sources.map(({ scanner }) => scanner.fork())
    return (masked) => {
      const made = this.#sources.map((source, index) =>
        chainOf(source, forks[index]!, { length, masked, isOwn: this.#isOwn }),
      )
      return [made[0], ...this.#joined.map((source) => source && made[this.#sources.indexOf(source)])]
    }
  }

  /** What a search finds after it has agreed with that in the text alone is the same. */
  #dropAgreeing(): void {
    const [first, ...others] = this.#sources as [Source, ...Source[]]
    const differing = others.filter(({ scanner, offset }) => !scanner.agreesWith(first.scanner, offset - first.offset))
    this.#sources = [first, ...differing]
  }

  #collect(isFinished: boolean): void {
    for (const source of this.#sources) for (const match of source.scanner.takeMatches()) this.#take(source, match)
    const settled = isFinished ? settledOf(this.#sources[0]!) : Math.min(...this.#sources.map(settledOf))
    if (settled < 0) return
    if (this.#own !== undefined) this.#compareOwn(this.#own)
    this.#pieces.sort((one, other) => one.start - other.start || Number(other.continues) - Number(one.continues))
    const isOpen = ({ start }: Match) => start >= settled
    for (const piece of this.#pieces) if (!isOpen(piece)) this.#group(piece)
    this.#pieces = this.#pieces.filter(isOpen)
    this.#report(Math.min(this.#groupEnd, settled))
    this.settled = settled
  }

  #take(source: Source, { start, end, continues }: ScannedMatch): void {
    const { offset } = source
    if (!continues) source.matchStart = start
    // It was reported in a text before.
    else if (source.matchStart < 0) source.matchStart = startOfMask(source, start)
    this.#compareLeft(source, end)
    if (end <= offset) return
    const isOver = source.matchStart < offset && start <= offset
    const goesOn = isOver ? this.#isOwn : continues
    this.#pieces.push({ start: Math.max(0, start - offset), end: end - offset, continues: goesOn })
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

  #group({ start, end, continues }: ScannedMatch): void {
    // What continues a match follows it at once.
    if (!continues && start >= this.#groupEnd) {
      this.#report(this.#groupEnd)
      this.#groupStart = this.#reported = start
    }
    this.#groupEnd = Math.max(this.#groupEnd, end)
  }

  #report(to: number): void {
    if (to <= this.#reported) return
    this.#found.push({ start: this.#reported, end: to, continues: this.#reported > this.#groupStart })
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
  return { scanner: scanner.fork(), offset: length, left, matchStart: -1 }
}

/** Where a match begins that goes on at a position. */
function startOfMask({ left }: Source, at: number): number {
  const mask = left.at(-1)?.masked?.find(({ start, end }) => start < at && end > at)
  return mask?.start ?? at - 1
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
  const last = left.at(-1)
  const own = isOwn && last?.masked !== undefined ? last : undefined
  const before = own === undefined ? left : left.slice(0, -1)
  const moved = masked.map((range) => ({ ...range, start: range.start + offset, end: range.end + offset }))
  const text = { start: own?.start ?? offset, end, masked: joined(own?.masked ?? [], moved) }
  return { scanner, length: end, left: [...before, text].filter((each) => each.end > scanner.settled) }
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
