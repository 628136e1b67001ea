import type { RegexGuard } from '../guard.ts'
import { refuseByRules } from '../guard-refusals.ts'
import { MaskPipeline } from '../rules/mask-pipeline.ts'
import type { TextRule } from '../rules/text-rule.ts'
import type { RefuseStream, TextOutput, TextStage } from './text-stage.ts'

/** The stream that a stage belongs to. */
export interface RuleObserver {
  readonly refuse: RefuseStream
  /**
   * Called for each text that is masked, and for one that is refused, for the record.
   * @param rules that masked, or the one that refuses
   * @param detail why the match cannot be masked
   */
  readonly noted: (
    guard: RegexGuard,
    verdict: 'Mask' | 'Reject',
    rules: readonly TextRule[],
    detail: string | undefined,
  ) => void
}

export interface RegexStageOptions {
  readonly guard: RegexGuard
  /** A match cannot be masked, so it ends the stream. */
  readonly isFixed: boolean
  readonly stream: RuleObserver
}

/**
 * Masks the matches of a guard in one text. Text that can no longer be part of a match passes at once. If part of a match has already been sent,
 * the match ends the stream (decision B46).
 */
export class RegexStage<Tag> implements TextStage<Tag> {
  readonly #out: TextOutput<Tag>
  readonly #options: RegexStageOptions
  readonly #pipeline: MaskPipeline
  /** The tags of the deltas that have not passed, in order. */
  readonly #tags: Tag[] = []
  #isOver = false

  constructor(out: TextOutput<Tag>, options: RegexStageOptions) {
    this.#out = out
    this.#options = options
    this.#pipeline = new MaskPipeline(options.guard.rules)
  }

  text(tag: Tag, text: string): void {
    if (this.#isOver) return
    this.#tags.push(tag)
    this.#pipeline.push(text)
    this.#forward()
  }

  finish(): void {
    if (this.#isOver) return
    this.#pipeline.finish()
    this.#forward()
    if (this.#isOver) return
    this.#isOver = true
    this.#out.finish()
  }

  #forward(): void {
    const { isFixed, guard, stream } = this.#options
    const { overrunBy } = this.#pipeline
    // The rest of the match must not be sent, either.
    if (overrunBy !== undefined) return this.#reject('the match is in a text that has begun to leave', overrunBy)
    for (const { text, changed } of this.#pipeline.take()) {
      if (changed) {
        const { matched } = this.#pipeline
        if (isFixed) return this.#reject('the match is in a text that cannot change', matched[0]!)
        stream.noted(guard, 'Mask', matched, undefined)
      }
      this.#out.text(this.#tags.shift()!, text)
    }
  }

  #reject(detail: string, rule: TextRule): void {
    const { guard, stream } = this.#options
    this.#isOver = true
    stream.noted(guard, 'Reject', [rule], detail)
    stream.refuse(refuseByRules(guard, [rule], detail))
  }
}
