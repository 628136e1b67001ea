/** The first number that is no index of a call or block. */
export const ABOVE_INDEXES = 1e12 + 1

/** More blocks are none of a chat. */
const MAX_BLOCKS = 4096

/** Numbers the content blocks of a stream. Some providers give several the same `index`, or none: the last one that has begun goes on. */
export class BlockNumbers {
  readonly #begun = new Set<number>()
  /** By index, the number of the last block if it is not the first one. */
  readonly #later = new Map<number, number>()
  #next = ABOVE_INDEXES

  /** A block begins. */
  begin(index: number): number {
    if (this.#begun.size + this.#later.size >= MAX_BLOCKS) {
      this.#begun.clear()
      this.#later.clear()
    }
    if (this.#begun.has(index)) this.#later.set(index, this.#next++)
    this.#begun.add(index)
    return this.of(index)
  }

  of(index: number): number {
    return this.#later.get(index) ?? index
  }
}
