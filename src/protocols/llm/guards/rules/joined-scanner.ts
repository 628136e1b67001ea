import type { Match, ScannedMatch, TextScanner } from '#base/pattern/text-scanner.ts'

/** A text that has left, of which a match may still be found. Positions are those of a scanner. */
export interface LeftText extends Match {
  /** What was masked of it, as far as it matters. */
  readonly masked: readonly Match[]
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
  /** The searches in other texts and this one. */
  readonly joined: readonly RuleChain[]
}

/** A search in the text: alone, or behind others. */
interface Source {
  readonly scanner: TextScanner
  /** Where the text begins. */
  readonly offset: number
  readonly left: readonly LeftText[]
}

/**
 * Finds the matches in a text alone, and its shares of matches in texts that are read together with it. Matches that overlap are one. If one
 * would change a text that has left, the scanner has overrun.
 */
export class JoinedScanner implements TextScanner {
  settled = 0
  #overran = false
  /** The search in the text alone is the first one. */
  #sources: readonly Source[]
  /** By number of the chain that was given. Undefined, or not among the sources any more: it finds what the first source finds. */
  #joined: readonly (Source | undefined)[]
  /** Not yet in groups. */
  #pieces: ScannedMatch[] = []
  /** Matches that overlap: where they begin, where they end so far, and what of them was reported. */
  #groupStart = -1
  #groupEnd = 0
  #reported = 0
  #found: ScannedMatch[] = []

  constructor({ alone, joined }: JoinedScannerOptions) {
    const sources = joined.map(sourceOf)
    this.#joined = sources
    this.#sources = [sourceOf(alone), ...sources]
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

  /** The search in the text alone, if nothing else matters any more. */
  get alone(): TextScanner | undefined {
    return this.overran || this.isJoined ? undefined : this.#sources[0]!.scanner
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
    const fork = new JoinedScanner({ alone: { scanner: sources[0]!.scanner, length: 0, left: [] }, joined: [] })
    fork.settled = this.settled
    fork.#overran = this.#overran
    fork.#sources = sources
    fork.#joined = this.#joined.map((source) => source && sources[this.#sources.indexOf(source)])
    fork.#pieces = [...this.#pieces]
    fork.#groupEnd = this.#groupEnd
    fork.#reported = this.#reported
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
      const made = this.#sources.map((source, index) => chainOf(source, forks[index]!, length, masked))
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
    this.#pieces.sort((one, other) => one.start - other.start || Number(other.continues) - Number(one.continues))
    const isOpen = ({ start }: Match) => start >= settled
    for (const piece of this.#pieces) if (!isOpen(piece)) this.#group(piece)
    this.#pieces = this.#pieces.filter(isOpen)
    this.#report(Math.min(this.#groupEnd, settled))
    this.settled = settled
  }

  #take(source: Source, { start, end, continues }: ScannedMatch): void {
    const { offset, left } = source
    // A match that continues shares the mask of the part that was reported before.
    this.#compareLeft(left, { start: continues ? start - 1 : start, end })
    if (end <= offset) return
    // In each text, a match has a placeholder.
    this.#pieces.push({ start: Math.max(0, start - offset), end: end - offset, continues: continues && start > offset })
  }

  /** A share in a text that has left must be masked in it. */
  #compareLeft(left: readonly LeftText[], match: Match): void {
    for (const text of left) {
      const share = { start: Math.max(match.start, text.start), end: Math.min(match.end, text.end) }
      if (share.start < share.end && !text.masked.some((masked) => contains(masked, share))) this.#overran = true
    }
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
  const scanner = new JoinedScanner({ alone: chain, joined: [] })
  scanner.finish()
  return scanner.overran
}

function sourceOf({ scanner, length, left }: RuleChain): Source {
  return { scanner: scanner.fork(), offset: length, left }
}

function settledOf({ scanner, offset }: Source): number {
  return scanner.settled - offset
}

/** @param masked of the text, which has this length */
function chainOf({ offset, left }: Source, scanner: TextScanner, length: number, masked: readonly Match[]): RuleChain {
  const end = offset + length
  const moved = masked.map((range) => ({ start: range.start + offset, end: range.end + offset }))
  const texts = [...left, { start: offset, end, masked: moved }]
  return { scanner, length: end, left: texts.filter((each) => each.end > scanner.settled) }
}

function contains(range: Match, share: Match): boolean {
  return share.start >= range.start && share.end <= range.end
}
