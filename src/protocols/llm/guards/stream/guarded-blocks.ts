import { Pace, type Steps } from '#base/in-slices.ts'
import type { EventText } from '../../texts/body-texts.ts'
import { ALONE } from '../../texts/read-texts.ts'
import { familyOf, hasPrefix } from './block-names.ts'
import { type BlockOptions, GuardedBlock } from './guarded-block.ts'

/** Members of choices and kinds of blocks whose last text is remembered. */
const MAX_FAMILIES = 64

/** More blocks of a stream count as held text: what the runtime keeps for each of them, and for each of its guards. */
const FEW_BLOCKS = 64
const BLOCK_BYTES = 512

/** The work for the end of a block, in characters. */
export const WORK_PER_END = 512

/** The texts of one stream that have not ended, or may be repeated. */
export class GuardedBlocks {
  readonly #options: BlockOptions
  readonly #blocks = new Map<string, GuardedBlock>()
  /** The ends of texts that other blocks may go on with. */
  readonly #before = new Map<string, string>()
  readonly #blockBytes: number
  /** Of `#blocks`, those that count as held text. */
  #counted = 0

  constructor(options: BlockOptions) {
    this.#options = options
    this.#blockBytes = BLOCK_BYTES * (1 + options.guards.length)
  }

  /** The services of a block cannot take more text now. */
  get isBusy(): boolean {
    for (const { isBusy } of this.#blocks.values()) if (isBusy) return true
    return false
  }

  /** The block of a text; a new one if it is the first. Undefined: there is no room for it. */
  of({ block: key, place, form, kind }: EventText): GuardedBlock | undefined {
    let block = this.#blocks.get(key)
    if (block === undefined || (kind === 'delta' && block.isFinished)) {
      if (block === undefined && !this.#count()) return undefined
      const before = this.#before.get(familyOf(key)) ?? ''
      block = new GuardedBlock({ key, form, isFixed: !place.canChange, before }, this.#options)
      this.#blocks.set(key, block)
    }
    return block
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
    for (const [name, block] of this.#blocks) {
      if (hasPrefix(name, prefixes)) this.end(block)
      if (pace.after(WORK_PER_END)) yield
    }
  }

  end(block: GuardedBlock | undefined): void {
    if (block === undefined) return
    const { key } = block
    block.end()
    const isAlone = key.startsWith(ALONE)
    if (!isAlone && block.tail !== '') this.#keepEnd(familyOf(key), block.tail)
    // Only the responses API repeats texts of blocks that have ended.
    if (isAlone || !this.#options.isRepeated) this.#remove(key)
  }

  /** The stream is over. */
  drop(): void {
    this.#blocks.clear()
    this.#release(this.#counted)
  }

  /** @returns whether there is room for one more */
  #count(): boolean {
    if (this.#blocks.size < FEW_BLOCKS) return true
    if (!this.#options.exchange.context.guardLoad.take(this.#blockBytes)) return false
    this.#counted++
    return true
  }

  #remove(key: string): void {
    if (this.#blocks.delete(key) && this.#counted > 0) this.#release(1)
  }

  #release(count: number): void {
    this.#options.exchange.context.guardLoad.give(count * this.#blockBytes)
    this.#counted -= count
  }

  #keepEnd(family: string, tail: string): void {
    this.#before.delete(family)
    this.#before.set(family, tail)
    if (this.#before.size > MAX_FAMILIES) this.#before.delete(this.#before.keys().next().value!)
  }
}
