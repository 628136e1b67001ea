import { chainsBehind, chainsBehindLeft, MaskPipeline, type RuleChains } from '../rules/mask-pipeline.ts'
import type { ArgumentChecks, ArgumentPiece } from './arguments-stage.ts'
import { RegexStage, type RegexStageOptions } from './regex-stage.ts'
import type { TextOutput, TextStage } from './text-stage.ts'

/** How much of the end of what has left a text that is no JSON is checked with, in UTF-16 units. */
const TAIL_LENGTH = 256

export interface RegexChecksOptions extends Omit<RegexStageOptions, 'begun' | 'own' | 'neighbours'> {
  /** Those of the beginning of the text, which seemed to be over. */
  readonly begun?: RegexChecks<unknown> | undefined
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
  /** Of what is no JSON. */
  #plain: RegexStage<ArgumentPiece<Tag>> | undefined

  constructor(out: TextOutput<ArgumentPiece<Tag>>, options: RegexChecksOptions) {
    this.#out = { text: (piece, text) => out.text(piece, text), finish() {} }
    this.#finish = () => out.finish()
    this.#options = options
    if (options.begun !== undefined) this.#tail = options.begun.#tail
    if (options.isBroken === true) this.#left = new MaskPipeline(options.guard.rules)
  }

  string(isFixed: boolean, goesOn: boolean): TextStage<ArgumentPiece<Tag>> {
    const own = goesOn ? this.#chainsBehind('') : undefined
    const alone = { ...this.#options, begun: undefined, mayGoOn: false, own }
    return new RegexStage(this.#out, isFixed ? { ...alone, isFixed } : alone)
  }

  text(before: string | undefined): TextStage<ArgumentPiece<Tag>> {
    const { begun } = this.#options
    const stage = begun === undefined ? undefined : begun.#plain
    const own = before === undefined ? undefined : this.#chainsBehind(before)
    this.#plain = new RegexStage(this.#out, { ...this.#options, begun: stage, own })
    return this.#plain
  }

  left(text: string): void {
    if (this.#left !== undefined) {
      this.#left.push(0, text)
      this.#left.take()
      return
    }
    this.#tail += text
    if (this.#tail.length > 16 * TAIL_LENGTH) this.#tail = this.#tail.slice(-TAIL_LENGTH)
  }

  finish(): void {
    this.#finish()
  }

  #chainsBehind(before: string): RuleChains {
    this.left(before)
    const { rules } = this.#options.guard
    return this.#left === undefined ? chainsBehind(rules, this.#tail.slice(-TAIL_LENGTH)) : chainsBehindLeft(this.#left)
  }
}
