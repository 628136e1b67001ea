import type { ScannedMatch, TextScanner } from '#base/pattern/text-scanner.ts'
import { quietForAll } from './candidate-rule.ts'
import { JoinedScanner, type RuleChain } from './joined-scanner.ts'
import type { TextRule } from './text-rule.ts'

/** The masked text of one piece. */
export interface MaskedPiece {
  readonly tag: number
  readonly text: string
  /** Whether the text differs from what was pushed. */
  readonly changed: boolean
}

/** By rule, how its search goes on behind a text. */
export type RuleChains = readonly RuleChain[]

export interface PipelineOptions {
  /** Texts before it that are read together with it. */
  readonly joined?: readonly RuleChains[]
  /** See `TextRule.scan`. */
  readonly heldBytes?: number | undefined
}

/**
 * Masks one text that arrives in pieces, by rules in order: each sees the output of the one before. All pieces together become what the
 * rules make of the whole text, alone and behind the texts before it. The placeholder of a match over several pieces stands where the match begins.
 */
export class MaskPipeline {
  readonly #rules: readonly TextRule[]
  readonly #heldBytes: number | undefined
  /** Made when a text first needs them: most texts are short, and begin no match of most rules. */
  #stages: (MaskStage | undefined)[]
  /** The end of the text that has passed the stages that are not made yet. Behind other texts, those of rules to which it matters are made at once. */
  #passed = ''
  readonly #quiet: QuietBeginning
  readonly #waiting: { readonly tag: number | undefined; readonly text: string }[] = []
  #current = ''
  #done: MaskedPiece[] = []
  #overrunBy: TextRule | undefined
  readonly #chains: (RuleChains | undefined)[] = []

  constructor(rules: readonly TextRule[], options: PipelineOptions = {}) {
    this.#rules = rules
    this.#heldBytes = options.heldBytes
    this.#stages = rules.map((rule, at) => stageBehind(rule, at, options))
    this.#quiet = quietBeginningOf(rules)
  }

  /** A match was found whose beginning has left already: no more of the text may leave (decision B46). */
  get overran(): boolean {
    return this.#overrunBy !== undefined
  }

  /** The first rule that has found such a match. */
  get overrunBy(): TextRule | undefined {
    return this.#overrunBy
  }

  /** The rules that have found matches, in order. */
  get matched(): readonly TextRule[] {
    return this.#rules.filter((_, at) => this.#maskedBy(at) > 0)
  }

  /** The first rule that masks more than in another pipeline of the same rules; if there is none, the first one that masks less, or may later. */
  ruleUnlike(other: MaskPipeline): TextRule | undefined {
    const rules = this.#rules
    return (
      rules.find((_, at) => this.#maskedBy(at) > other.#maskedBy(at)) ??
      rules.find((_, at) => this.#maskedBy(at) < other.#maskedBy(at)) ??
      rules.find((_, at) => !this.#stageAgrees(at, other))
    )
  }

  /** Whether the same text has left both, none of which was taken, and will leave them, whatever follows. False does not mean that they differ. */
  agreesWith(other: MaskPipeline): boolean {
    return (
      this.#current === other.#current &&
      this.#done.length === other.#done.length &&
      this.#done.every(({ text }, at) => text === other.#done[at]!.text) &&
      this.#rules.every((_, at) => this.#stageAgrees(at, other))
    )
  }

  #stageAgrees(at: number, other: MaskPipeline): boolean {
    return this.#madeStage(at).agreesWith(other.#madeStage(at))
  }

  #maskedBy(at: number): number {
    return this.#stages[at]?.maskedLength ?? 0
  }

  /** The text begins behind this one, which is not searched. To be called first. */
  skip(text: string): void {
    for (const at of this.#rules.keys()) this.#madeStage(at).skip(text)
  }

  /** The text begins with this, which has left as other rules have masked it: a match that goes on behind it overruns. To be called first. */
  pushLeft(text: string): void {
    this.#add(undefined, text)
  }

  push(tag: number, text: string): void {
    this.#add(tag, text)
  }

  #add(tag: number | undefined, text: string): void {
    this.#waiting.push({ tag, text })
    this.#process([{ text, isEnd: true, hasLeft: tag === undefined }], false, this.#skip(text))
  }

  /** @param keepsChains `chains` will be called */
  finish(keepsChains = false): void {
    this.#process([], true, 0, keepsChains)
  }

  /** Texts before this one may still decide what is masked. */
  get isJoined(): boolean {
    return this.#stages.some((stage) => stage?.isJoined)
  }

  /**
   * How the rules go on behind the text, when it is over.
   * @param behind the number of the texts that it stands behind; -1: it is the first one
   */
  chains(behind: number): RuleChains {
    const known = this.#chains[behind + 1]
    if (known !== undefined) return known
    const made = this.#rules.map((_, at) => this.#madeStage(at).chain(behind))
    const alone = behind < 0 ? undefined : this.chains(-1)
    const chains = alone?.every((chain, at) => chain === made[at]) ? alone : made
    this.#chains[behind + 1] = chains
    return chains
  }

  /** The same text so far, which then goes on by itself. */
  fork(): MaskPipeline {
    const fork = new MaskPipeline(this.#rules, { heldBytes: this.#heldBytes })
    fork.#stages = this.#stages.map((stage) => stage?.fork())
    fork.#passed = this.#passed
    fork.#waiting.push(...this.#waiting)
    fork.#current = this.#current
    fork.#overrunBy = this.#overrunBy
    return fork
  }

  /** Most words begin no match of most rules: they pass these stages together. @returns how many stages they have passed */
  #skip(text: string): number {
    const { count, units } = this.#quiet
    const stages = this.#stages
    if (count === 0 || text === '' || !isQuiet(text, units)) return 0
    let passed = 0
    while (passed < count && stages[passed]?.skip(text) !== false) passed++
    if (passed === count) this.#passed = text.charAt(text.length - 1)
    return passed
  }

  #madeStage(at: number): MaskStage {
    const known = this.#stages[at]
    if (known !== undefined) return known
    const stage = this.#stageOf(at)
    if (this.#passed !== '' && at < this.#quiet.count) stage.skip(this.#passed)
    this.#stages[at] = stage
    return stage
  }

  #stageOf(at: number): MaskStage {
    const rule = this.#rules[at]!
    return new MaskStage(rule.scan(this.#heldBytes), rule.placeholder)
  }

  /** Pieces whose text is settled since the last call, in order; one for each `push`. */
  take(): readonly MaskedPiece[] {
    const done = this.#done
    if (done.length > 0) this.#done = []
    return done
  }

  /** @param from the first stage */
  #process(parts: readonly Part[], isFinished: boolean, from: number, keepsChains = false): void {
    const stages = this.#stages
    for (let at = from; at < stages.length; at++) {
      if (parts.length === 0) {
        if (!isFinished) return
        // No text has come that could be part of a match.
        if (stages[at] === undefined) continue
      }
      const stage = this.#madeStage(at)
      parts = stage.process(parts, isFinished, keepsChains)
      if (stage.overran) this.#overrunBy ??= this.#rules[at]
    }
    for (const { text, isEnd } of parts) {
      this.#current += text
      if (isEnd) this.#close()
    }
  }

  #close(): void {
    const { tag, text: before } = this.#waiting.shift()!
    const text = this.#current
    this.#current = ''
    if (tag !== undefined) this.#done.push({ tag, text, changed: text !== before })
  }
}

/**
 * How rules go on behind a text that has left, of which nothing more can be masked.
 * @param before what the text stands behind; empty: it is the beginning
 */
export function chainsBehind(rules: readonly TextRule[], text: string, before = ''): RuleChains {
  const pipeline = new MaskPipeline(rules)
  if (before !== '') pipeline.skip(before)
  pipeline.push(0, text)
  pipeline.finish(true)
  return pipeline.chains(-1).map((chain) => ({ ...chain, left: [{ start: 0, end: chain.length, masked: [] }] }))
}

/** The first rules of a pipeline for which it is known where no match begins. */
interface QuietBeginning {
  readonly count: number
  /** By code point below 256: 1 if no match of any of them begins there. */
  readonly units: Uint8Array
}

const quietBeginnings = new WeakMap<readonly TextRule[], QuietBeginning>()

function quietBeginningOf(rules: readonly TextRule[]): QuietBeginning {
  const known = quietBeginnings.get(rules)
  if (known !== undefined) return known
  const first = rules.findIndex(({ quiet }) => quiet === undefined)
  const count = first < 0 ? rules.length : first
  const tables = rules.slice(0, count).map(({ quiet }) => ({ quiet: quiet! }))
  const beginning = { count, units: quietForAll(tables) }
  quietBeginnings.set(rules, beginning)
  return beginning
}

function isQuiet(text: string, units: Uint8Array): boolean {
  for (let at = 0; at < text.length; at++) if (units[text.charCodeAt(at)] !== 1) return false
  return true
}

/** Text on its way between stages; it belongs to the oldest piece that has not ended. */
interface Part {
  readonly text: string
  /** Its piece ends with it. */
  readonly isEnd: boolean
  /** It is text of `pushLeft`. */
  readonly hasLeft: boolean
}

/** Undefined: what stands before it decides nothing. */
function stageBehind(rule: TextRule, at: number, { joined = [], heldBytes }: PipelineOptions): MaskStage | undefined {
  if (joined.length === 0) return undefined
  const behind = joined.map((chains) => chains[at]!)
  const alone = rule.scan(heldBytes)
  if (JoinedScanner.isNeedless(alone, behind)) return undefined
  return new MaskStage(
    new JoinedScanner({ alone: { scanner: alone, length: 0, left: [] }, joined: behind }),
    rule.placeholder,
  )
}

/** One rule. Positions are those in its input. */
class MaskStage {
  #scanner: TextScanner
  readonly #placeholder: string
  /** The input from `#at` on. */
  #text = ''
  #at = 0
  #length = 0
  /** Where text of `pushLeft` ends. -1: there is none. */
  #leftEnd = -1
  /** A match goes on behind it. */
  #goesOnBehindLeft = false
  /** Where the pieces end that have not left. */
  readonly #ends: number[] = []
  #out: Part[] = []
  /** Output that is not sent yet: joined at once, because strings that are only added to each other are slow to write. */
  #current: string[] = []
  /** What was masked last. */
  #masked: ScannedMatch[] = []
  #maskedLength = 0
  /** By number of the text before, -1 first. Undefined: nobody has asked for them. */
  #chains: readonly (RuleChain | undefined)[] | undefined
  /** Makes them of what was masked of the text, which is over. */
  #makeChains: ((masked: readonly ScannedMatch[]) => readonly (RuleChain | undefined)[]) | undefined
  /** The scanner, as long as other texts may decide what it finds. */
  #joined: JoinedScanner | undefined

  constructor(scanner: TextScanner, placeholder: string) {
    this.#scanner = scanner
    this.#joined = scanner instanceof JoinedScanner ? scanner : undefined
    this.#placeholder = placeholder
  }

  /** How much of the input was masked. */
  get maskedLength(): number {
    return this.#maskedLength
  }

  get isJoined(): boolean {
    return this.#joined?.isJoined === true
  }

  /** How the rule goes on behind the text. */
  chain(behind: number): RuleChain {
    this.#chains ??= (this.#makeChains ?? this.#chainsBehind(this.#length))(this.#masked)
    return this.#chains[behind + 1] ?? this.#chains[0]!
  }

  #chainsBehind(length: number): (masked: readonly ScannedMatch[]) => readonly (RuleChain | undefined)[] {
    const scanner = this.#scanner
    if (this.#joined !== undefined) return this.#joined.chains(length)
    const fork = scanner.fork()
    return (masked) => {
      const isSettled = fork.settled >= length
      return [{ scanner: fork, length, left: isSettled ? [] : [{ start: 0, end: length, masked }] }]
    }
  }

  fork(): MaskStage {
    const fork = new MaskStage(this.#scanner.fork(), this.#placeholder)
    fork.#text = this.#text
    fork.#at = this.#at
    fork.#length = this.#length
    fork.#leftEnd = this.#leftEnd
    fork.#ends.push(...this.#ends)
    fork.#masked = [...this.#masked]
    fork.#maskedLength = this.#maskedLength
    return fork
  }

  /** Whether what follows leaves both alike, and texts behind go on with the same. Positions may differ. */
  agreesWith(other: MaskStage): boolean {
    const shift = this.#length - other.#length
    return (
      this.#at === other.#at + shift &&
      this.#text === other.#text &&
      this.#ends.length === other.#ends.length &&
      this.#ends.every((end, at) => end === other.#ends[at]! + shift) &&
      this.#alone.agreesWith(other.#alone, shift)
    )
  }

  /** That of the text alone, if texts before decide nothing more. */
  get #alone(): TextScanner {
    return this.#joined?.alone ?? this.#scanner
  }

  get overran(): boolean {
    return this.#goesOnBehindLeft || this.#scanner.overran
  }

  /** Lets text pass in which no match begins. @returns false: something waits before it */
  skip(text: string): boolean {
    const scanner = this.#scanner
    if (this.#ends.length > 0 || this.#at < this.#length || !scanner.isIdle) return false
    scanner.skip(text)
    this.#length += text.length
    this.#at = this.#length
    return true
  }

  /** Takes parts of the input, and returns the output that is settled. */
  process(parts: readonly Part[], isFinished: boolean, keepsChains: boolean): readonly Part[] {
    const scanner = this.#scanner
    const waiting = this.#ends.length > 0 || this.#at < this.#length
    let added = ''
    for (const { text } of parts) added += text
    if (added !== '') scanner.push(added)
    const matches = isFinished ? this.#finish(this.#length + added.length, keepsChains) : scanner.takeMatches()
    // Most pieces pass most rules as they are.
    if (!waiting && matches.length === 0 && scanner.settled === this.#length + added.length) {
      this.#length += added.length
      this.#at = this.#length
      return parts
    }
    for (const { text, isEnd, hasLeft } of parts) {
      this.#length += text.length
      if (isEnd) this.#ends.push(this.#length)
      if (hasLeft) this.#leftEnd = this.#length
    }
    this.#text += added
    for (const match of matches) {
      const { start, end, continues } = match
      if (end > this.#leftEnd) {
        this.#goesOnBehindLeft ||= start < this.#leftEnd || (continues && start === this.#leftEnd)
        this.#maskedLength += end - start
      }
      this.#note(match, isFinished)
      this.#advance(start, true)
      if (!continues) this.#current.push(this.#placeholder)
      this.#advance(end, false)
    }
    this.#advance(scanner.settled, true)
    // Once the text before it decides nothing more, the text costs what one without such a text costs.
    if (this.#joined !== undefined && !isFinished) this.#leaveJoined()
    if (this.#current.length > 0) this.#send(false, this.#at)
    const out = this.#out
    this.#out = []
    return out
  }

  /** Goes on to a position of the input; the text up to there is kept or removed. */
  #advance(to: number, isKept: boolean): void {
    const ends = this.#ends
    let from = 0
    while (ends.length > 0 && ends[0]! <= to) {
      const end = ends.shift()! - this.#at
      if (isKept) this.#keep(from, end)
      from = end
      this.#send(true, end + this.#at)
    }
    const rest = to - this.#at
    if (isKept) this.#keep(from, rest)
    this.#text = this.#text.slice(rest)
    this.#at = to
  }

  /** @param length of the text @returns the last matches */
  #finish(length: number, keepsChains: boolean): readonly ScannedMatch[] {
    const scanner = this.#scanner
    const matches = [...scanner.takeMatches()]
    // The end decides nothing, and the search can go on behind it.
    if (scanner.isIdle) return matches
    if (keepsChains) this.#makeChains = this.#chainsBehind(length)
    scanner.finish()
    return [...matches, ...scanner.takeMatches()]
  }

  #leaveJoined(): void {
    this.#scanner = this.#alone
    if (this.#scanner !== this.#joined) this.#joined = undefined
  }

  /** While the text continues, text that is not settled can extend only the last match. */
  #note(match: ScannedMatch, isFinished: boolean): void {
    const masked = this.#masked
    const last = masked.at(-1)
    if (match.continues && last !== undefined) masked[masked.length - 1] = { ...last, end: match.end }
    else if (isFinished) masked.push(match)
    else this.#masked = [match]
  }

  #keep(from: number, to: number): void {
    if (from < to) this.#current.push(this.#text.slice(from, to))
  }

  /** @param to where it ends in the input */
  #send(isEnd: boolean, to: number): void {
    const current = this.#current
    const text = current.length === 1 ? current[0]! : current.join('')
    this.#out.push({ text, isEnd, hasLeft: to <= this.#leftEnd })
    this.#current = []
  }
}
