import { Pace, type Steps } from '#base/in-slices.ts'
import type { EventText } from '../../texts/body-texts.ts'
import { type BlockOptions, GuardedBlock } from './guarded-block.ts'
import { KeptText, type KeptTextMemory } from './kept-text.ts'

/** A stream with more texts that have not ended is refused. Models write far fewer, such as 128 calls or choices. */
const MAX_OPEN = 1024

/** Memory overhead of a text that may be repeated. */
const KEPT_BYTES = 256

/** The work for the end of a block, in characters. */
const WORK_PER_END = 512

/** The texts of one stream that have not ended, or may be repeated. */
export class GuardedBlocks {
  readonly #options: BlockOptions
  /** Undefined: no event repeats texts. */
  readonly #memory: KeptTextMemory | undefined
  readonly #open = new Map<string, GuardedBlock>()
  /** The last block of each text that may be repeated. */
  readonly #ended = new Map<string, GuardedBlock>()

  constructor(options: BlockOptions, memory: KeptTextMemory | undefined) {
    this.#options = options
    this.#memory = memory
  }

  /** The services of a block cannot take more text now. */
  get isBusy(): boolean {
    for (const { isBusy } of this.#open.values()) if (isBusy) return true
    return false
  }

  /** Services judge without a pause, because no text arrives until some has been released. */
  judgeNow(): void {
    for (const block of this.#open.values()) block.judgeNow()
  }

  /** The open block that a text continues. */
  open({ block }: EventText): GuardedBlock | undefined {
    return this.#open.get(block)
  }

  /** The block of a text; a new one if it is the first. Undefined: there is no room for it. @param event the number of its event */
  of(about: EventText, event: number): GuardedBlock | undefined {
    const { block: key, kind, sequence } = about
    const ended = this.#ended.get(key)
    const known = this.#open.get(key) ?? (kind === 'whole' && ended?.hasText ? ended : undefined)
    if (known !== undefined) return known
    if (sequence !== undefined) this.#endBefore(sequence, event)
    if (this.#open.size >= MAX_OPEN || (ended === undefined && this.#memory?.take(KEPT_BYTES) === false))
      return undefined
    const kept = ended?.kept ?? (this.#memory && new KeptText(this.#memory))
    const block = new GuardedBlock(about, this.#options, kept)
    this.#open.set(key, block)
    return block
  }

  /** Ends blocks by their keys. A key that ends with `*` is a prefix. */
  *close(keys: readonly string[]): Steps<void> {
    const pace = new Pace()
    const prefixes = new Set<string>()
    for (const key of keys) {
      if (key.endsWith('*')) prefixes.add(key.slice(0, -1))
      else this.end(this.#open.get(key))
      if (pace.after(WORK_PER_END)) yield
    }
    if (prefixes.size === 0) return
    for (const [name, block] of this.#open) {
      if (hasPrefix(name, prefixes)) this.end(block)
      if (pace.after(WORK_PER_END)) yield
    }
  }

  end(block: GuardedBlock | undefined): void {
    if (block === undefined) return
    block.end()
    this.#open.delete(block.key)
    if (this.#memory !== undefined) this.#ended.set(block.key, block)
  }

  /** The stream is over. */
  drop(): void {
    this.#open.clear()
    this.#ended.clear()
  }

  #endBefore(sequence: string, event: number): void {
    for (const block of this.#open.values()) {
      if (block.sequence === sequence && block.lastEvent < event) this.end(block)
    }
  }
}

/** Whether a name begins with a prefix that is empty or ends with a dot. */
function hasPrefix(name: string, prefixes: ReadonlySet<string>): boolean {
  if (prefixes.has('')) return true
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    if (prefixes.has(name.slice(0, dot + 1))) return true
  }
  return false
}
