import type { RegexGuard } from '../guard.ts'
import { refuseByGuard } from '../guard-refusals.ts'
import { MaskPipeline } from '../rules/mask-pipeline.ts'
import type { RefuseStream, TextOutput, TextStage } from './text-stage.ts'

export interface RegexStageOptions {
  readonly guard: RegexGuard
  /** A match cannot be masked: it refuses the stream. */
  readonly isFixed: boolean
  /** Text that has left and that this one may go on with: a match that begins in it refuses the stream. */
  readonly before: string
  readonly stream: RuleObserver
}

/** The stream that a stage belongs to. */
export interface RuleObserver {
  readonly refuse: RefuseStream
  /** Called for each match, for the record. */
  readonly noted: (guard: RegexGuard, verdict: 'Mask' | 'Reject') => void
}

/** Masks the matches of a guard. Text that can no longer be part of a match passes at once. */
export class RegexStage<Tag> implements TextStage<Tag> {
  readonly #out: TextOutput<Tag>
  readonly #options: RegexStageOptions
  readonly #pipeline: MaskPipeline
  /** Of the deltas that have not passed, in order. */
  readonly #tags: Tag[] = []
  /** `before` has not been taken from the pipeline. */
  #isBefore: boolean
  /** A match began in `before`, and may go on in the next text. */
  #mayReach = false
  #isOver = false

  constructor(out: TextOutput<Tag>, options: RegexStageOptions) {
    this.#out = out
    this.#options = options
    this.#pipeline = new MaskPipeline(options.guard.rules)
    this.#isBefore = options.before !== ''
    if (this.#isBefore) this.#pipeline.push(0, options.before)
  }

  text(tag: Tag, text: string): void {
    if (this.#isOver) return
    this.#tags.push(tag)
    this.#pipeline.push(0, text)
    this.#forward()
  }

  finish(): void {
    if (this.#isOver) return
    this.#pipeline.finish()
    this.#forward()
    if (!this.#isOver) this.#out.finish()
    this.#isOver = true
  }

  #forward(): void {
    const { isFixed, guard, stream } = this.#options
    const pipeline = this.#pipeline
    // The rest of the match must not leave, either.
    if (pipeline.overran) return this.#reject(' matched a text that had begun to leave')
    for (const { text, changed } of pipeline.take()) {
      if (this.#isBefore) {
        this.#isBefore = false
        this.#mayReach = changed
        continue
      }
      if (changed && this.#mayReach) return this.#reject(' matched a text that had begun to leave')
      if (text !== '') this.#mayReach = false
      if (changed && isFixed) return this.#reject(' matched a text that cannot change')
      if (changed) stream.noted(guard, 'Mask')
      this.#out.text(this.#tags.shift()!, text)
    }
  }

  #reject(why: string): void {
    const { guard, stream } = this.#options
    this.#isOver = true
    stream.noted(guard, 'Reject')
    stream.refuse(refuseByGuard(guard, why))
  }
}
