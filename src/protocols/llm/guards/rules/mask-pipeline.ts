import type { TextScanner } from '#base/pattern/text-scanner.ts'
import type { TextRule } from './text-rule.ts'

/** The masked text of one piece. */
export interface MaskedPiece {
  readonly tag: number
  readonly text: string
  /** Whether the text differs from what was pushed. */
  readonly changed: boolean
}

/**
 * Masks one text that arrives in pieces, by rules in order: each sees the output of the one before. All pieces together become what the
 * rules make of the whole text. The placeholder of a match over several pieces stands where the match begins.
 */
export class MaskPipeline {
  readonly #stages: readonly MaskStage[]
  readonly #waiting: { readonly tag: number; readonly text: string }[] = []
  #current = ''
  #done: MaskedPiece[] = []

  constructor(rules: readonly TextRule[]) {
    this.#stages = rules.map((rule) => new MaskStage(rule))
  }

  /** A match was found whose beginning has left already: no more of the text may leave (decision B46). */
  get overran(): boolean {
    return this.#stages.some((stage) => stage.overran)
  }

  push(tag: number, text: string): void {
    this.#waiting.push({ tag, text })
    this.#process([{ text, isEnd: true }], false)
  }

  finish(): void {
    this.#process([], true)
  }

  /** Pieces whose text is settled since the last call, in order; one for each `push`. */
  take(): readonly MaskedPiece[] {
    const done = this.#done
    if (done.length > 0) this.#done = []
    return done
  }

  #process(parts: readonly Part[], isFinished: boolean): void {
    for (const stage of this.#stages) {
      if (parts.length === 0 && !isFinished) return
      parts = stage.process(parts, isFinished)
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
    this.#done.push({ tag, text, changed: text !== before })
  }
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
  /** Output of the piece that has not ended: joined at once, because strings that are only added to each other are slow to write. */
  #current: string[] = []

  constructor(rule: TextRule) {
    this.#scanner = rule.scan()
    this.#placeholder = rule.placeholder
  }

  get overran(): boolean {
    return this.#scanner.overran
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

  /** Goes on to a position of the input; the text up to there is kept or removed. */
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
    this.#out.push({ text: current.length === 1 ? current[0]! : current.join(''), isEnd })
    this.#current = []
  }
}
