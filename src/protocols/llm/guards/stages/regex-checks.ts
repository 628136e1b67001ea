import { refuseByRules } from '../rule-names.ts'
import { MaskPipeline } from '../rules/mask-pipeline.ts'
import type { TextRule } from '../rules/text-rule.ts'
import type { ArgumentChecks, ArgumentPiece } from './arguments-stage.ts'
import { PART_LENGTH } from './parted-stage.ts'
import { HAS_LEFT, RegexStage, type RegexStageOptions, type RuleObserver } from './regex-stage.ts'
import type { TextOutput, TextStage } from './text-stage.ts'

export type RegexChecksOptions = Omit<RegexStageOptions, 'own' | 'neighbours'>

/** The patterns of a guard on each string of arguments, and on what is no JSON. A match that begins before that cannot be masked. */
export class RegexChecks<Tag> implements ArgumentChecks<Tag> {
  readonly #out: TextOutput<ArgumentPiece<Tag>>
  readonly #finish: () => void
  readonly #options: RegexChecksOptions
  /** The JSON that has left, as one text. Made when it is searched: most arguments are shorter than a part, and never turn out to be no JSON. */
  #json: MaskPipeline | undefined
  /** The end of it, which has not been searched. */
  #unsearched = ''
  /** Of the last string. */
  #string: RegexStage<unknown> | undefined
  /** Of what is no JSON. */
  #plain: RegexStage<unknown> | undefined
  /** The rule that masked text that is not JSON, or was not when the text seemed to be over. */
  #plainMaskedBy: TextRule | undefined

  /** @param begun those of the beginning of the text, which seemed to be over */
  constructor(out: TextOutput<ArgumentPiece<Tag>>, options: RegexChecksOptions, begun?: RegexChecks<unknown>) {
    this.#out = { text: (piece, text) => out.text(piece, text), finish() {} }
    this.#finish = () => out.finish()
    this.#options = options
    if (begun !== undefined) {
      this.#json = begun.#json
      this.#unsearched = begun.#unsearched
      this.#string = begun.#string
      this.#plain = begun.#plain
      this.#plainMaskedBy = begun.#plainMaskedBy
    }
  }

  string(isFixed: boolean, goesOn: boolean): TextStage<ArgumentPiece<Tag>> {
    const begun = goesOn ? this.#string : undefined
    const options = isFixed ? { ...this.#options, isFixed } : this.#options
    const string = new RegexStage(this.#out, options, begun)
    this.#string = string
    return string
  }

  text(before: string | undefined, cut: string): TextStage<ArgumentPiece<Tag>> {
    const own = before === undefined ? undefined : this.#pipelineBehind(before)
    const options = { ...this.#options, own, stream: this.#observePlain() }
    const plain = new RegexStage(this.#out, options, own === undefined ? this.#plain : undefined)
    if (cut !== '') plain.beginWith(cut)
    this.#plain = plain
    return plain
  }

  #observePlain(): RuleObserver {
    const { stream } = this.#options
    return {
      refuse: (refusal) => stream.refuse(refusal),
      noted: (guard, verdict, rules, detail) => {
        this.#plainMaskedBy ??= rules[0]
        stream.noted(guard, verdict, rules, detail)
      },
    }
  }

  left(text: string): boolean {
    // Space before JSON is not checked.
    if (this.#plainMaskedBy !== undefined && text !== '') {
      const { guard, stream } = this.#options
      const rules = [this.#plainMaskedBy]
      stream.noted(guard, 'Reject', rules, HAS_LEFT)
      stream.refuse(refuseByRules(guard, rules, HAS_LEFT))
      return false
    }
    this.#unsearched += text
    if (this.#unsearched.length >= PART_LENGTH) this.#search()
    return true
  }

  finish(): void {
    this.#finish()
  }

  #search(): MaskPipeline {
    const json = this.#json ?? new MaskPipeline(this.#options.guard.rules, this.#options)
    this.#json = json
    json.pushLeft(this.#unsearched)
    this.#unsearched = ''
    return json
  }

  #pipelineBehind(before: string): MaskPipeline {
    this.left(before)
    return this.#search()
  }
}
