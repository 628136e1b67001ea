import { refuseByRules } from '../rule-names.ts'
import { chainsBehind, chainsBehindLeft, MaskPipeline, type RuleChains } from '../rules/mask-pipeline.ts'
import type { ArgumentChecks, ArgumentPiece } from './arguments-stage.ts'
import { HAS_LEFT, RegexStage, type RegexStageOptions } from './regex-stage.ts'
import type { TextOutput, TextStage } from './text-stage.ts'

/** The invalid remainder is checked together with this much of the text that has left before it, in UTF-16 units. */
const TAIL_LENGTH = 256

export interface RegexChecksOptions extends Omit<RegexStageOptions, 'own' | 'neighbours'> {
  /** The text turns out to be no JSON: it is checked from there on with all that is before, instead of the end of it. */
  readonly isBroken?: boolean
}

/** The patterns of a guard on each string of arguments, and on what is no JSON. A match that begins before that cannot be masked. */
export class RegexChecks<Tag> implements ArgumentChecks<Tag> {
  readonly #out: TextOutput<ArgumentPiece<Tag>>
  readonly #finish: () => void
  readonly #options: RegexChecksOptions
  /** The end of what has left. */
  #tail = ''
  /** What has left, if it is broken. */
  #left: MaskPipeline | undefined
  /** Of the last string. */
  #string: RegexStage<unknown> | undefined
  /** Of what is no JSON. */
  #plain: RegexStage<unknown> | undefined
  /** A part of what is no JSON, or was none when it seemed to be over, has been masked. */
  #isPlainMasked = false

  /** @param begun those of the beginning of the text, which seemed to be over */
  constructor(out: TextOutput<ArgumentPiece<Tag>>, options: RegexChecksOptions, begun?: RegexChecks<unknown>) {
    this.#out = {
      text: (piece, text) => {
        if (!piece.isString && text !== piece.text) this.#isPlainMasked = true
        out.text(piece, text)
      },
      finish() {},
    }
    this.#finish = () => out.finish()
    this.#options = options
    if (begun !== undefined) {
      this.#tail = begun.#tail
      this.#string = begun.#string
      this.#plain = begun.#plain
      this.#isPlainMasked = begun.#isPlainMasked
    }
    if (options.isBroken === true) this.#left = new MaskPipeline(options.guard.rules)
  }

  string(isFixed: boolean, goesOn: boolean): TextStage<ArgumentPiece<Tag>> {
    const begun = goesOn ? this.#string : undefined
    const options = isFixed ? { ...this.#options, isFixed } : this.#options
    const string = new RegexStage(this.#out, options, begun)
    this.#string = string
    return string
  }

  text(before: string | undefined): TextStage<ArgumentPiece<Tag>> {
    const plain =
      before === undefined
        ? new RegexStage(this.#out, this.#options, this.#plain)
        : new RegexStage(this.#out, { ...this.#options, own: this.#chainsBehind(before) })
    this.#plain = plain
    return plain
  }

  left(text: string): boolean {
    const { guard, stream } = this.#options
    // Space before JSON is not checked.
    if (this.#isPlainMasked && text !== '') {
      stream.noted(guard, 'Reject', [], HAS_LEFT)
      stream.refuse(refuseByRules(guard, [], HAS_LEFT))
      return false
    }
    if (this.#left !== undefined) {
      this.#left.push(0, text)
      this.#left.take()
    } else {
      this.#tail += text
      if (this.#tail.length > 16 * TAIL_LENGTH) this.#tail = this.#tail.slice(-TAIL_LENGTH - 1)
    }
    return true
  }

  finish(): void {
    this.#finish()
  }

  #chainsBehind(before: string): RuleChains {
    this.left(before)
    if (this.#left !== undefined) return chainsBehindLeft(this.#left)
    // The unit before the end that is checked decides whether that begins a word, a line or the text.
    const start = Math.max(0, this.#tail.length - TAIL_LENGTH)
    return chainsBehind(this.#options.guard.rules, this.#tail.slice(start), this.#tail.charAt(start - 1))
  }
}
