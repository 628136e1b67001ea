import type { RegexGuard } from '../guard.ts'
import { refuseByRules } from '../rule-names.ts'
import { changesAtEnd } from '../rules/joined-scanner.ts'
import { MaskPipeline, type PipelineOptions, type RuleChains } from '../rules/mask-pipeline.ts'
import type { TextRule } from '../rules/text-rule.ts'
import type { RefuseStream, TextOutput, TextStage } from './text-stage.ts'

/** What the stage of the text before leaves to that of the next one in a sequence. */
export interface StageBefore {
  readonly sequence: string
  readonly stage: Pick<RegexStage<unknown>, 'chains'>
}

/** The stages of the same guard for texts that are read together with that of a stage. */
export interface StageNeighbours {
  /** For the text before, in each sequence that has one. */
  before(guard: RegexGuard): readonly StageBefore[]
  /** There are texts behind. */
  readonly isFollowed: boolean
  /** For the texts behind. */
  after(guard: RegexGuard): readonly Pick<RegexStage<unknown>, 'markStale' | 'catchUp'>[]
}

export interface RegexStageOptions {
  readonly guard: RegexGuard
  /** A match cannot be masked: it refuses the stream. */
  readonly isFixed: boolean
  readonly stream: RuleObserver
  /** Undefined: the text is read alone. */
  readonly neighbours?: StageNeighbours | undefined
  /** The text may go on when it seems to be over. */
  readonly mayGoOn?: boolean
  /** The beginning of the text, which has left. */
  readonly own?: RuleChains | undefined
  /** See `TextRule.scan`. */
  readonly heldBytes?: number | undefined
}

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

/** So much of the beginning of a text is checked again if the text before it goes on afterwards, in UTF-16 units. */
const HEAD_LENGTH = 256

export const HAS_LEFT = 'the match is in a text that has begun to leave'

/**
 * Masks the matches of a guard in a text, alone and together with the texts before it. Text that can no longer be part of a match passes at
 * once. A match that would change text which has left refuses the stream.
 */
export class RegexStage<Tag> implements TextStage<Tag> {
  readonly #out: TextOutput<Tag>
  readonly #options: RegexStageOptions
  #pipeline: MaskPipeline
  /** Of the deltas that have not passed, in order. */
  readonly #tags: Tag[] = []
  /** By sequence, the number of the text before among those that the pipeline stands behind. */
  #behind = new Map<string, number>()
  /** The first deltas, and what left instead of those that have passed. */
  readonly #head: string[] = []
  readonly #left: string[] = []
  #headLength = 0
  /** How many deltas the pipeline has passed. */
  #passed = 0
  /** The text goes on behind the head. */
  #isLong: boolean
  #hasText = false
  /** The pipeline as it would be if the text were over. */
  #ended: MaskPipeline | undefined
  /** The text before has changed since this one was checked. */
  #isStale = false
  #isFinished = false
  #isRefused = false
  /** Sequences that are over with this text. */
  readonly #lastOf = new Set<string>()

  /** @param begun that of the beginning of the text, which seemed to be over */
  constructor(out: TextOutput<Tag>, options: RegexStageOptions, begun?: RegexStage<unknown>) {
    this.#out = out
    this.#options = options
    this.#pipeline = this.#pipelineBehind({ own: options.own })
    // Only what other texts may change is checked again.
    this.#isLong = options.neighbours === undefined
    if (begun?.hasText === true) this.#goOn(begun)
  }

  get hasText(): boolean {
    return this.#hasText
  }

  /** The text begins with this, which has left unchecked. To be called first. */
  beginWith(text: string): void {
    this.#head.push(text)
    this.#left.push(text)
    this.#pipeline.push(0, text)
  }

  text(tag: Tag, text: string): void {
    if (this.#isRefused || this.#isFinished) return
    if (!this.#hasText) {
      // Nothing waits.
      if (text === '') return this.#out.text(tag, text)
      this.#begin()
    }
    if (this.#isStale) {
      this.#checkAgain()
      if (this.#isRefused) return
    }
    this.#ended = undefined
    this.#tags.push(tag)
    if (!this.#isLong) this.#keepHead(text)
    this.#pipeline.push(0, text)
    this.#forward()
    this.#markAfter()
  }

  finish(): void {
    if (this.#isRefused || this.#isFinished) return
    if (this.#isStale) this.#checkAgain()
    if (this.#isRefused) return
    this.#pipeline.finish(this.#keepsChains)
    this.#isFinished = true
    this.#forward()
    if (this.#isRefused) return
    this.#out.finish()
    for (const stage of this.#after) stage.catchUp()
    this.#checkEnd()
  }

  /** How the search goes on behind the text in a sequence. Undefined: there is no text. */
  chains(sequence: string): RuleChains | undefined {
    if (!this.#hasText) {
      this.#isStale = false
      return this.#before.find((before) => before.sequence === sequence)?.stage.chains(sequence)
    }
    if (this.#isStale) this.#checkAgain()
    return this.#endedPipeline().chains(this.#behind.get(sequence) ?? -1)
  }

  /** The text before has changed. */
  markStale(): void {
    if (this.#isStale) return
    this.#isStale = true
    this.#markAfter()
  }

  #markAfter(): void {
    for (const stage of this.#after) stage.markStale()
  }

  /** A text before is over. */
  catchUp(): void {
    const isChanged = this.#isStale
    if (isChanged && !this.#isRefused) this.#checkAgain()
    this.#checkEnd()
    if (isChanged) for (const stage of this.#after) stage.catchUp()
  }

  /** No text follows in a sequence. */
  endSequence(sequence: string): void {
    this.#lastOf.add(sequence)
    this.catchUp()
  }

  get #before(): readonly StageBefore[] {
    const { neighbours, guard } = this.#options
    return neighbours?.before(guard) ?? []
  }

  get #after(): ReturnType<StageNeighbours['after']> {
    const { neighbours, guard } = this.#options
    return neighbours?.isFollowed === true ? neighbours.after(guard) : []
  }

  get #keepsChains(): boolean {
    return this.#options.neighbours !== undefined || this.#options.mayGoOn === true
  }

  #begin(): void {
    this.#hasText = true
    const joined = this.#chainsBefore()
    if (joined.length > 0) this.#pipeline = this.#pipelineBehind({ joined })
  }

  #pipelineBehind(before: PipelineOptions): MaskPipeline {
    const { guard, heldBytes } = this.#options
    return new MaskPipeline(guard.rules, { ...before, heldBytes })
  }

  #chainsBefore(): readonly RuleChains[] {
    const found: RuleChains[] = []
    const behind = new Map<string, number>()
    for (const { stage, sequence } of this.#before) {
      const chains = stage.chains(sequence)
      if (chains === undefined) continue
      if (!found.includes(chains)) found.push(chains)
      behind.set(sequence, found.indexOf(chains))
    }
    this.#behind = behind
    return found
  }

  #endedPipeline(): MaskPipeline {
    if (this.#isFinished) return this.#pipeline
    if (this.#ended === undefined) {
      this.#ended = this.#pipeline.fork()
      this.#ended.finish(true)
    }
    return this.#ended
  }

  /** The text seemed to be over, and all of it has left. */
  #goOn(begun: RegexStage<unknown>): void {
    this.#hasText = true
    this.#head.push(...begun.#head)
    this.#left.push(...begun.#left)
    this.#headLength = begun.#headLength
    this.#isLong = begun.#isLong
    this.#behind = begun.#behind
    this.#isStale = begun.#isStale
    const own = begun.#pipeline.chains(-1)
    const count = begun.#pipeline.isJoined ? new Set(begun.#behind.values()).size : 0
    const joined = Array.from({ length: count }, (_, at) => begun.#pipeline.chains(at))
    this.#pipeline = this.#pipelineBehind({ own, joined })
    this.#passed = this.#head.length
  }

  #keepHead(text: string): void {
    this.#headLength += text.length
    this.#isLong = this.#headLength > HEAD_LENGTH || this.#head.length === HEAD_LENGTH
    if (!this.#isLong) this.#head.push(text)
  }

  /** The text that the beginning of this one was checked with has changed: the same must have left. */
  #checkAgain(): void {
    this.#isStale = false
    this.#ended = undefined
    if (!this.#isLong) return this.#repeatHead()
    const pipeline = this.#checkedHead()
    const pieces = pipeline.take()
    // The next piece has left, although its end may now be the beginning of a match.
    const { begun } = pipeline
    const isSame =
      pieces.every(({ text }, at) => at >= this.#left.length || text === this.#left[at]) &&
      (this.#left[pieces.length] ?? begun).startsWith(begun)
    this.#behind = new Map()
    if (!isSame || pipeline.overran) return this.#rejectLeft(pipeline)
    // What is behind the head cannot be checked again, nor a part of the head that waits for it.
    const open = pipeline.joinedBy ?? this.#pipeline.joinedBy
    if (open !== undefined) this.#reject(HAS_LEFT, open)
    else if (this.#left.length < this.#head.length) this.#rejectLeft(pipeline)
  }

  #repeatHead(): void {
    this.#pipeline = this.#checkedHead()
    this.#passed = 0
    if (this.#isFinished) this.#pipeline.finish(true)
    this.#forward()
  }

  #checkedHead(): MaskPipeline {
    const pipeline = this.#pipelineBehind({ joined: this.#chainsBefore() })
    this.#pushHead(pipeline)
    return pipeline
  }

  #pushHead(pipeline: MaskPipeline): void {
    for (const text of this.#head) pipeline.push(0, text)
  }

  /** What the end of the last text decides about those before it. */
  #checkEnd(): void {
    if (!this.#isFinished || this.#isRefused) return
    for (const sequence of this.#lastOf) {
      const at = this.#behind.get(sequence)
      const changing = at === undefined ? -1 : this.#pipeline.chains(at).findIndex(changesAtEnd)
      if (changing >= 0) return this.#reject(HAS_LEFT, this.#options.guard.rules[changing])
    }
  }

  #forward(): void {
    const { isFixed, guard, stream } = this.#options
    const pipeline = this.#pipeline
    // The rest of the match must not leave, either.
    if (pipeline.overran) return this.#rejectLeft(pipeline)
    for (const { text, changed } of pipeline.take()) {
      const at = this.#passed++
      if (at < this.#left.length) {
        if (text !== this.#left[at]) return this.#rejectLeft(pipeline)
        continue
      }
      if (changed && isFixed) return this.#reject('the match is in a text that cannot change', pipeline.matched[0])
      if (changed) stream.noted(guard, 'Mask', pipeline.matched, undefined)
      if (at < this.#head.length) this.#left.push(text)
      this.#out.text(this.#tags.shift()!, text)
    }
  }

  /** @param pipeline whose masks differ from those in the text that has left */
  #rejectLeft(pipeline: MaskPipeline): void {
    const alone = this.#pipelineBehind({})
    this.#pushHead(alone)
    alone.finish()
    const isAlone = this.#options.neighbours === undefined
    const rule = isAlone ? (alone.matched[0] ?? pipeline.matched[0]) : pipeline.ruleUnlike(alone)
    this.#reject(HAS_LEFT, pipeline.overrunBy ?? rule)
  }

  /** @param rule that matches, or may */
  #reject(detail: string, rule: TextRule | undefined): void {
    if (this.#isRefused) return
    const { guard, stream } = this.#options
    const rules = rule === undefined ? [] : [rule]
    this.#isRefused = true
    stream.noted(guard, 'Reject', rules, detail)
    stream.refuse(refuseByRules(guard, rules, detail))
  }
}
