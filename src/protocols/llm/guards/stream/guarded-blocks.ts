import { Pace, type Steps } from '#base/in-slices.ts'
import type { EventText } from '../../texts/body-texts.ts'
import { ALONE } from '../../texts/read-texts.ts'
import type { GuardedFormat } from '../guarded-format.ts'
import { hasPrefix } from './block-names.ts'
import { type BlockOptions, GuardedBlock } from './guarded-block.ts'
import { SequencedText, TextSequences } from './text-sequences.ts'

/** So many texts that have ended are remembered, because some providers go on with them. */
const MAX_ENDED = 64

/** Of each further one, its name is remembered, and counts as held text: it cannot go on. */
const NAME_BYTES = 256

/**
 * A stream with more texts that have not ended is refused. Models write far fewer, such as 128 calls or choices; what the runtime keeps for
 * each one would make collections of garbage long.
 */
const MAX_OPEN = 1024

/** More blocks of a stream count as held text: what the runtime keeps for each of them, and for each of its guards. */
const FEW_BLOCKS = 64
const BLOCK_BYTES = 512

/** The work for the end of a block, in characters. */
export const WORK_PER_END = 512

/** The texts of one stream that have not ended, or may be repeated. */
export class GuardedBlocks {
  readonly #options: BlockOptions
  readonly #blocks = new Map<string, GuardedBlock>()
  /** Of these, those that have not ended: the responses API goes on for a long time after the end of most. */
  readonly #open = new Map<string, GuardedBlock>()
  readonly #ended = new Map<string, GuardedBlock>()
  readonly #forgotten = new Set<string>()
  /** A text is not among those. */
  #isFull = false
  readonly #sequences: TextSequences
  readonly #blockBytes: number
  /** Of `#blocks`, those that count as held text. */
  #counted = 0
  /** Sequences of texts that count as held text. */
  #lasting = 0

  constructor(format: GuardedFormat, options: BlockOptions) {
    this.#options = options
    this.#blockBytes = BLOCK_BYTES * (1 + options.guards.length)
    this.#sequences = new TextSequences(format, () => this.#takeLasting())
  }

  /** The services of a block cannot take more text now. */
  get isBusy(): boolean {
    for (const { isBusy } of this.#blocks.values()) if (isBusy) return true
    return false
  }

  /** No further text comes until services have let some pass. */
  judgeNow(): void {
    for (const block of this.#blocks.values()) block.judgeNow()
  }

  /** The block of a text; a new one if it is the first. Undefined: there is no room for it. */
  of(about: EventText): GuardedBlock | undefined {
    const { block: key, kind } = about
    const block = this.#blocks.get(key)
    if (block !== undefined && !(kind === 'delta' && block.isFinished)) return block
    if (this.#open.size >= MAX_OPEN) return undefined
    const begun = block ?? this.#ended.get(key)
    if (begun === undefined && kind === 'delta' && (this.#isFull || this.#forgotten.has(key))) return undefined
    if (block === undefined && !this.#count()) return undefined
    const { form, place } = about
    const text = begun?.sequenced ?? textOf(about)
    const made = new GuardedBlock({ key, form, isFixed: !place.canChange, text, begun }, this.#options)
    this.#blocks.set(key, made)
    this.#open.set(key, made)
    return made
  }

  /** A text of a block comes. @returns false if it cannot be checked with those that are read together with it */
  enter({ sequenced }: GuardedBlock, kind: EventText['kind']): boolean {
    if (sequenced === undefined) return true
    if (!sequenced.isEntered) return this.#sequences.enter(sequenced)
    return kind === 'whole' || !sequenced.isForgotten
  }

  /** Ends blocks; all that begin with a key that ends with `*`. */
  *close(keys: readonly string[]): Steps<void> {
    const pace = new Pace()
    const prefixes = new Set<string>()
    for (const key of keys) {
      if (key.endsWith('*')) prefixes.add(key.slice(0, -1))
      else this.end(this.#blocks.get(key))
      if (pace.after(WORK_PER_END)) yield
    }
    if (prefixes.size === 0) return
    for (const [name, block] of this.#open) {
      if (hasPrefix(name, prefixes)) this.end(block)
      if (pace.after(WORK_PER_END)) yield
    }
    for (const prefix of prefixes) this.#sequences.end(prefix)
  }

  end(block: GuardedBlock | undefined): void {
    if (block === undefined) return
    const { key, sequenced } = block
    block.end()
    this.#open.delete(key)
    if (sequenced !== undefined) this.#remember(block)
    // Only the responses API repeats texts of blocks that have ended.
    if (sequenced === undefined || this.#options.repeats === undefined) this.#remove(key)
  }

  /** The stream is over. */
  drop(): void {
    this.#blocks.clear()
    this.#open.clear()
    this.#ended.clear()
    this.#sequences.drop()
    this.#release(this.#counted)
    this.#options.exchange.context.guardLoad.give(this.#lasting * this.#blockBytes + this.#forgotten.size * NAME_BYTES)
    this.#lasting = 0
    this.#forgotten.clear()
  }

  /** @returns whether there is room for one more */
  #count(): boolean {
    if (this.#blocks.size < FEW_BLOCKS) return true
    if (!this.#options.exchange.context.guardLoad.take(this.#blockBytes)) return false
    this.#counted++
    return true
  }

  #takeLasting(): boolean {
    if (!this.#options.exchange.context.guardLoad.take(this.#blockBytes)) return false
    this.#lasting++
    return true
  }

  #remove(key: string): void {
    if (this.#blocks.delete(key) && this.#counted > 0) this.#release(1)
  }

  #release(count: number): void {
    this.#options.exchange.context.guardLoad.give(count * this.#blockBytes)
    this.#counted -= count
  }

  #remember(block: GuardedBlock): void {
    const { key } = block
    this.#ended.delete(key)
    this.#ended.set(key, block)
    if (this.#ended.size <= MAX_ENDED) return
    const [oldest, { sequenced }] = this.#ended.entries().next().value!
    this.#ended.delete(oldest)
    // The stages of other texts are those of their neighbours, too.
    if (sequenced?.isAlone === true && !this.#open.has(oldest)) sequenced.stages.clear()
    if (this.#forgotten.has(oldest)) return
    if (this.#options.exchange.context.guardLoad.take(NAME_BYTES)) this.#forgotten.add(oldest)
    else this.#isFull = true
  }
}

/** Undefined: it is a text of one event. */
export function textOf({ block, form, owner }: EventText): SequencedText | undefined {
  if (block.startsWith(ALONE)) return undefined
  const isText = form !== 'arguments' && form !== 'input'
  return new SequencedText(block, isText ? owner : undefined)
}
