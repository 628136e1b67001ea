import type { RegexGuard } from '../guard.ts'
import { refuseByRules } from '../rule-names.ts'
import { changesAtEnd } from '../rules/joined-scanner.ts'
import { MaskPipeline, type RuleChains } from '../rules/mask-pipeline.ts'
import type { TextRule } from '../rules/text-rule.ts'
import type { RefuseStream, TextOutput, TextStage } from './text-stage.ts'

/** What the stage of the text before leaves to that of the next one in a sequence. */
export interface StageBefore {
  readonly sequence: string
  readonly stage: Pick<RegexStage<unknown>, 'chains' | 'endSequence'>
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
  /** What goes on with the text: its beginning has left. */
  readonly own?: MaskPipeline | undefined
  /** See `TextRule.scan`. */
  readonly heldBytes?: number | undefined
  /** So much of the beginning of a text is checked again if the text before it goes on afterwards, in UTF-16 units: 256 by default. */
  readonly headLength?: number | undefined
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

const HEAD_LENGTH = 256

export const HAS_LEFT = 'the match is in a text that has begun to leave'

/**
 * Masks the matches of a guard in a text, alone and together with the texts before it. Text that can no longer be part of a match passes at
 * once. A match that would change text which has left refuses the stream.
 */
export class RegexStage<Tag> implements TextStage<Tag> {
  readonly #out: TextOutput<Tag>
  readonly #options: RegexStageOptions
  /** Of the text so far, which may go on. */
  #pipeline: MaskPipeline
  /** The same, if the text is over. */
  #ended: MaskPipeline | undefined
  /** The texts that the pipeline stands behind. */
  #joined: readonly RuleChains[] = []
  /** By sequence, the number of the text before among them. */
  #behind = new Map<string, number>()
  /** Of the deltas that have not passed, in order. */
  readonly #tags: Tag[] = []
  /** What has left instead of deltas that have not passed the pipeline, in order: the same must leave it. */
  #repeated: string[] = []
  /** What let it leave. Undefined: it left unchecked. */
  #earlier: MaskPipeline | undefined
  /** The rule that matches in what left unchecked. */
  #uncheckedBy: TextRule | undefined
  /** What was released when the text seemed complete. */
  #atEnd: readonly string[] = []
  /** The first deltas, and what left instead of those that have passed. */
  readonly #head: string[] = []
  readonly #left: string[] = []
  #headLength = 0
  /** The text goes on behind the head. */
  #isLong: boolean
  #hasText = false
  /** The text before has changed since this one was checked. */
  #isStale = false
  #isFinished = false
  #isRefused = false
  /** What goes on with the text has come, and has no stage yet. */
  #goesOn = false
  /** Sequences that are over with this text. */
  readonly #lastOf = new Set<string>()

  /** @param begun that of the beginning of the text, which seemed to be over */
  constructor(out: TextOutput<Tag>, options: RegexStageOptions, begun?: RegexStage<unknown>) {
    this.#out = out
    this.#options = options
    this.#pipeline = options.own ?? this.#pipelineBehind([])
    // Only what other texts may change is checked again.
    this.#isLong = options.neighbours === undefined
    if (begun === undefined) return
    if (begun.hasText) this.#goOn(begun)
    // Sequences have ended while this text waited.
    for (const sequence of begun.#lastOf) this.#lastOf.add(sequence)
  }

  get hasText(): boolean {
    return this.#hasText
  }

  /** The text begins with this, which has left unchecked. To be called first. */
  beginWith(text: string): void {
    this.#repeated.push(text)
    this.#pipeline.push(0, text)
    const alone = this.#pipelineBehind([])
    alone.push(0, text)
    alone.finish()
    this.#uncheckedBy = alone.matched[0]
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
    this.#forward(this.#pipeline)
    this.#markAfter()
  }

  finish(mayGoOn?: boolean): void {
    if (this.#isRefused || this.#isFinished) return
    if (this.#isStale) this.#checkAgain()
    if (this.#isRefused) return
    this.#isFinished = true
    this.#forwardEnd(mayGoOn)
    if (this.#isRefused) return
    this.#out.finish()
    for (const stage of this.#after) stage.catchUp()
    this.#checkEnd()
  }

  /** How the search goes on behind the text in a sequence. Undefined: there is no text. */
  chains(sequence: string): RuleChains | undefined {
    if (!this.#hasText) {
      this.#isStale = false
      return this.#stageBefore(sequence)?.chains(sequence)
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

  /** More of the text comes: sequences that were over with it are not. */
  reopen(): void {
    this.#goesOn = true
    this.#lastOf.clear()
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

  #stageBefore(sequence: string): StageBefore['stage'] | undefined {
    return this.#before.find((before) => before.sequence === sequence)?.stage
  }

  get #after(): ReturnType<StageNeighbours['after']> {
    const { neighbours, guard } = this.#options
    return neighbours?.isFollowed === true ? neighbours.after(guard) : []
  }

  #begin(): void {
    this.#hasText = true
    this.#findChains()
    const joined = this.#joined
    if (joined.length > 0) this.#pipeline = this.#pipelineBehind(joined)
  }

  #pipelineBehind(joined: readonly RuleChains[]): MaskPipeline {
    const { guard, heldBytes } = this.#options
    return new MaskPipeline(guard.rules, { joined, heldBytes })
  }

  #findChains(): void {
    const found: RuleChains[] = []
    const behind = new Map<string, number>()
    for (const { stage, sequence } of this.#before) {
      const chains = stage.chains(sequence)
      if (chains === undefined) continue
      if (!found.includes(chains)) found.push(chains)
      behind.set(sequence, found.indexOf(chains))
    }
    this.#behind = behind
    this.#joined = found
  }

  #endedPipeline(mayGoOn = false): MaskPipeline {
    if (this.#ended === undefined) {
      const hasNeighbours = this.#options.neighbours !== undefined
      this.#ended = hasNeighbours || mayGoOn ? this.#pipeline.fork() : this.#pipeline
      this.#ended.finish(hasNeighbours)
    }
    return this.#ended
  }

  /** The text seemed to be over, and all of it has left. */
  #goOn(begun: RegexStage<unknown>): void {
    this.#hasText = true
    this.#pipeline = begun.#pipeline
    this.#joined = begun.#joined
    this.#behind = begun.#behind
    this.#repeated = [...begun.#atEnd]
    this.#earlier = begun.#ended
    this.#head.push(...begun.#head)
    this.#left.push(...begun.#left)
    this.#headLength = begun.#headLength
    this.#isLong = begun.#isLong
    this.#isStale = begun.#isStale
  }

  #keepHead(text: string): void {
    const { headLength = HEAD_LENGTH } = this.#options
    this.#headLength += text.length
    this.#isLong = this.#headLength > headLength || this.#head.length === headLength
    if (!this.#isLong) this.#head.push(text)
  }

  /** The text that the beginning of this one was checked with has changed: the same must have left. */
  #checkAgain(): void {
    this.#isStale = false
    const before = this.#joined
    this.#findChains()
    const pipeline = this.#checkedHead(this.#joined)
    if (!this.#isLong) return this.#repeatHead(pipeline)
    // What is behind the head cannot be checked again.
    const earlier = this.#checkedHead(before)
    if (pipeline.overran || !pipeline.agreesWith(earlier)) {
      this.#reject(HAS_LEFT, pipeline.overrunBy ?? pipeline.ruleUnlike(earlier))
    }
  }

  #repeatHead(pipeline: MaskPipeline): void {
    this.#earlier = this.#ended ?? this.#pipeline
    this.#pipeline = pipeline
    this.#ended = undefined
    this.#repeated = [...this.#left]
    this.#forward(pipeline)
    if (this.#isFinished && !this.#isRefused) this.#forwardEnd()
  }

  #checkedHead(joined: readonly RuleChains[]): MaskPipeline {
    const pipeline = this.#pipelineBehind(joined)
    for (const text of this.#head) pipeline.push(0, text)
    return pipeline
  }

  /** What the end of the last text decides about those before it. */
  #checkEnd(): void {
    if (!this.#isFinished || this.#isRefused || this.#goesOn) return
    for (const sequence of this.#lastOf) {
      if (!this.#hasText) this.#stageBefore(sequence)?.endSequence(sequence)
      const at = this.#behind.get(sequence)
      const changing = at === undefined ? -1 : this.#endedPipeline().chains(at).findIndex(changesAtEnd)
      if (changing >= 0) return this.#reject(HAS_LEFT, this.#options.guard.rules[changing])
    }
  }

  #forwardEnd(mayGoOn?: boolean): void {
    const ended = this.#endedPipeline(mayGoOn)
    const pieces = ended.take()
    this.#atEnd = pieces.map(({ text }) => text)
    this.#forward(ended, pieces)
  }

  #forward(pipeline: MaskPipeline, pieces = pipeline.take()): void {
    const { isFixed, guard, stream } = this.#options
    // The rest of the match must not leave, either.
    if (pipeline.overran) return this.#rejectLeft(pipeline)
    for (const { text, changed } of pieces) {
      if (this.#repeated.length > 0) {
        if (text !== this.#repeated.shift()) return this.#rejectLeft(pipeline)
        continue
      }
      if (changed && isFixed) return this.#reject('the match is in a text that cannot change', pipeline.matched[0])
      if (changed) stream.noted(guard, 'Mask', pipeline.matched, undefined)
      if (this.#left.length < this.#head.length) this.#left.push(text)
      this.#out.text(this.#tags.shift()!, text)
    }
  }

  /** @param pipeline whose masks differ from those in the text that has left */
  #rejectLeft(pipeline: MaskPipeline): void {
    const earlier = this.#earlier
    const rule = earlier === undefined ? (this.#uncheckedBy ?? pipeline.matched[0]) : pipeline.ruleUnlike(earlier)
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
