import { Pace, type Steps } from '#base/in-slices.ts'
import type { EventText } from '../../texts/body-texts.ts'
import { ALONE } from '../../texts/read-texts.ts'
import { familyOf, hasPrefix } from './block-names.ts'
import { type BlockOptions, GuardedBlock } from './guarded-block.ts'

/** Members of choices and kinds of blocks whose last text is remembered. */
const MAX_FAMILIES = 64

/** The work for the end of a block, in characters. */
export const WORK_PER_END = 512

/** The texts of one stream that have not ended, or may be repeated. */
export class GuardedBlocks {
  readonly #options: BlockOptions
  readonly #blocks = new Map<string, GuardedBlock>()
  /** The ends of texts that other blocks may go on with. */
  readonly #before = new Map<string, string>()

  constructor(options: BlockOptions) {
    this.#options = options
  }

  /** The services of a block cannot take more text now. */
  get isBusy(): boolean {
    for (const { isBusy } of this.#blocks.values()) if (isBusy) return true
    return false
  }

  /** The block of a text; a new one if it is the first. */
  of({ block: key, place, form, kind }: EventText): GuardedBlock {
    let block = this.#blocks.get(key)
    if (block === undefined || (kind === 'delta' && block.isFinished)) {
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
    if (isAlone || !this.#options.isRepeated) this.#blocks.delete(key)
  }

  #keepEnd(family: string, tail: string): void {
    this.#before.delete(family)
    this.#before.set(family, tail)
    if (this.#before.size > MAX_FAMILIES) this.#before.delete(this.#before.keys().next().value!)
  }
}
