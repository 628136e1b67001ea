import type { TextScanner } from '#base/pattern/text-scanner.ts'
import { quietForAll } from './candidate-rule.ts'
import type { TextRule } from './text-rule.ts'

/** The masked text of one piece. */
export interface MaskedPiece {
  readonly text: string
  /** Whether the text differs from what was pushed. */
  readonly changed: boolean
}

/**
 * Masks one text that arrives in pieces. Each rule sees the output of the previous one. The masked pieces together equal the masked whole text. If a
 * match covers several pieces, its placeholder is in the first of them.
 */
export class MaskPipeline {
  readonly #rules: readonly TextRule[]
  /** Each is created when it is first needed: most texts are short, and most rules have no match in them. */
  readonly #stages: (MaskStage | undefined)[]
  /** The last character that has skipped the stages that do not exist yet. */
  #passed = ''
  readonly #quiet: QuietBeginning
  /** The pieces that have not left. */
  readonly #waiting: string[] = []
  #current = ''
  #done: MaskedPiece[] = []
  #overrunBy: TextRule | undefined

  constructor(rules: readonly TextRule[]) {
    this.#rules = rules
    this.#stages = rules.map(() => undefined)
    this.#quiet = quietBeginningOf(rules)
  }

  /** The first rule that found a match whose beginning has left already: no more of the text may leave (decision B46). */
  get overrunBy(): TextRule | undefined {
    return this.#overrunBy
  }

  /** The rules that have found matches, in order. */
  get matched(): readonly TextRule[] {
    return this.#rules.filter((_, at) => this.#stages[at]?.hasMatched)
  }

  push(text: string): void {
    this.#waiting.push(text)
    this.#process([{ text, isEnd: true }], false, this.#skip(text))
  }

  finish(): void {
    this.#process([], true, 0)
  }

  /** Skips the first stages if no match of their rules begins in the text, as in most words. @returns how many stages it has skipped */
  #skip(text: string): number {
    const { count, units } = this.#quiet
    const stages = this.#stages
    if (count === 0 || text === '' || !isQuiet(text, units)) return 0
    let passed = 0
    while (passed < count && stages[passed]?.skip(text) !== false) passed++
    if (passed === count) this.#passed = text.charAt(text.length - 1)
    return passed
  }

  #stageAt(at: number): MaskStage {
    const known = this.#stages[at]
    if (known !== undefined) return known
    const stage = new MaskStage(this.#rules[at]!)
    if (this.#passed !== '' && at < this.#quiet.count) stage.skip(this.#passed)
    this.#stages[at] = stage
    return stage
  }

  /** Pieces whose text is settled since the last call, in order; one for each `push`. */
  take(): readonly MaskedPiece[] {
    const done = this.#done
    if (done.length > 0) this.#done = []
    return done
  }

  /** @param from the first stage */
  #process(parts: readonly Part[], isFinished: boolean, from: number): void {
    for (let at = from; at < this.#stages.length; at++) {
      if (parts.length === 0) {
        if (!isFinished) return
        // No text has come that could be part of a match.
        if (this.#stages[at] === undefined) continue
      }
      const stage = this.#stageAt(at)
      parts = stage.process(parts, isFinished)
      if (stage.overran) this.#overrunBy ??= this.#rules[at]
    }
    for (const { text, isEnd } of parts) {
      this.#current += text
      if (isEnd) this.#close()
    }
  }

  #close(): void {
    const before = this.#waiting.shift()!
    const text = this.#current
    this.#current = ''
    this.#done.push({ text, changed: text !== before })
  }
}

/** The first rules of a pipeline, up to the first without a table of characters that begin no match. */
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
}

/** One rule. Positions are those in its input. */
class MaskStage {
  readonly #scanner: TextScanner
  readonly #placeholder: string
  /** The input from `#at` on. */
  #text = ''
  #at = 0
  #length = 0
  /** Where the pieces end that have not left. */
  readonly #ends: number[] = []
  #out: Part[] = []
  /** Output that is not sent yet. One call joins it, because ropes of concatenated strings are slow to write. */
  #current: string[] = []
  hasMatched = false

  constructor(rule: TextRule) {
    this.#scanner = rule.scan()
    this.#placeholder = rule.placeholder
  }

  get overran(): boolean {
    return this.#scanner.overran
  }

  /** Passes text in which no match begins. @returns false if earlier text is still held back */
  skip(text: string): boolean {
    const scanner = this.#scanner
    if (this.#ends.length > 0 || this.#at < this.#length || !scanner.isIdle) return false
    scanner.skip(text)
    this.#length += text.length
    this.#at = this.#length
    return true
  }

  /** Takes parts of the input, and returns the output that is settled. */
  process(parts: readonly Part[], isFinished: boolean): readonly Part[] {
    const scanner = this.#scanner
    const waiting = this.#ends.length > 0 || this.#at < this.#length
    let added = ''
    for (const { text } of parts) added += text
    if (added !== '') scanner.push(added)
    if (isFinished) scanner.finish()
    const matches = scanner.takeMatches()
    // Most pieces pass most rules as they are.
    if (!waiting && matches.length === 0 && scanner.settled === this.#length + added.length) {
      this.#length += added.length
      this.#at = this.#length
      return parts
    }
    for (const { text, isEnd } of parts) {
      this.#length += text.length
      if (isEnd) this.#ends.push(this.#length)
    }
    this.#text += added
    for (const { start, end, continues } of matches) {
      this.hasMatched = true
      this.#advance(start, true)
      if (!continues) this.#current.push(this.#placeholder)
      this.#advance(end, false)
    }
    this.#advance(scanner.settled, true)
    if (this.#current.length > 0) this.#send(false)
    const out = this.#out
    this.#out = []
    return out
  }

  /** Moves to a position of the input, and keeps or removes the text before it. */
  #advance(to: number, isKept: boolean): void {
    const ends = this.#ends
    let from = 0
    while (ends.length > 0 && ends[0]! <= to) {
      const end = ends.shift()! - this.#at
      if (isKept) this.#keep(from, end)
      from = end
      this.#send(true)
    }
    const rest = to - this.#at
    if (isKept) this.#keep(from, rest)
    this.#text = this.#text.slice(rest)
    this.#at = to
  }

  #keep(from: number, to: number): void {
    if (from < to) this.#current.push(this.#text.slice(from, to))
  }

  #send(isEnd: boolean): void {
    const current = this.#current
    const text = current.length === 1 ? current[0]! : current.join('')
    this.#out.push({ text, isEnd })
    this.#current = []
  }
}
