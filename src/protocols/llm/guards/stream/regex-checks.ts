import { refuseByRules } from '../rule-names.ts'
import { chainsBehindLeft, MaskPipeline, type RuleChains } from '../rules/mask-pipeline.ts'
import type { ArgumentChecks, ArgumentPiece } from './arguments-stage.ts'
import { HAS_LEFT, RegexStage, type RegexStageOptions } from './regex-stage.ts'
import type { TextOutput, TextStage } from './text-stage.ts'

/** JSON that has left is searched in parts of at least so many UTF-16 units: most arguments are shorter, and never turn out to be no JSON. */
const PART_LENGTH = 256

export type RegexChecksOptions = Omit<RegexStageOptions, 'own' | 'neighbours'>

/** The patterns of a guard on each string of arguments, and on what is no JSON. A match that begins before that cannot be masked. */
export class RegexChecks<Tag> implements ArgumentChecks<Tag> {
  readonly #out: TextOutput<ArgumentPiece<Tag>>
  readonly #finish: () => void
  readonly #options: RegexChecksOptions
  /** The JSON that has left, as one text. */
  readonly #json: MaskPipeline
  /** The end of it, which has not been searched. */
  #unsearched = ''
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
    this.#json = begun === undefined ? new MaskPipeline(options.guard.rules) : begun.#json
    if (begun !== undefined) {
      this.#unsearched = begun.#unsearched
      this.#string = begun.#string
      this.#plain = begun.#plain
      this.#isPlainMasked = begun.#isPlainMasked
    }
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
    this.#unsearched += text
    if (this.#unsearched.length >= PART_LENGTH) this.#search()
    return true
  }

  finish(): void {
    this.#finish()
  }

  #search(): void {
    this.#json.push(0, this.#unsearched)
    this.#json.take()
    this.#unsearched = ''
  }

  #chainsBehind(before: string): RuleChains {
    this.left(before)
    this.#search()
    return chainsBehindLeft(this.#json, undefined)
  }
}
