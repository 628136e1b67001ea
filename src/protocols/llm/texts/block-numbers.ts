/** The first number that is no index of a call or block. */
export const ABOVE_INDEXES = 1e12 + 1

/** More blocks are none of a chat. */
const MAX_BLOCKS = 4096

/**
 * Numbers the content blocks of a stream, in the order in which they are read. Some providers give several the same `index`, or none: the last
 * one that has begun goes on. The indexes of such a stream do not tell an order any more, so the blocks from there on are read as they begin.
 */
export class BlockNumbers {
  /** By index, the number of the last block. */
  readonly #numbers = new Map<number, number>()
  #isRepeated = false
  #next = ABOVE_INDEXES

  /** A block begins. */
  begin(index: number): number {
    if (this.#numbers.size >= MAX_BLOCKS) this.#numbers.clear()
    this.#isRepeated ||= this.#numbers.has(index)
    const number = this.#isRepeated ? this.#next++ : index
    this.#numbers.set(index, number)
    return number
  }

  /** A block goes on. Some providers do not tell when one begins. */
  of(index: number): number {
    return this.#numbers.get(index) ?? (this.#isRepeated ? this.begin(index) : index)
  }
}
