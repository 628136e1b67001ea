/** Items in order. Adding one and removing the oldest take constant time, so a full queue costs no more than one that is sent. */
export class WaitingItems {
  /** The items, after `#from` places that are free. */
  #items: Uint8Array[] = []
  #from = 0
  #bytes = 0

  get length(): number {
    return this.#items.length - this.#from
  }

  /** Size of all items. */
  get bytes(): number {
    return this.#bytes
  }

  push(item: Uint8Array): void {
    this.#items.push(item)
    this.#bytes += item.length
  }

  /** Removes the oldest items: as many as have `maxBytes`. */
  take(maxBytes: number): readonly Uint8Array[] {
    const start = this.#from
    let bytes = 0
    let end = start
    while (end < this.#items.length && bytes + this.#items[end]!.length <= maxBytes) bytes += this.#items[end++]!.length
    const taken = this.#items.slice(start, end)
    this.#remove(end, bytes)
    return taken
  }

  /** Items that were taken are the oldest ones again. */
  putBack(items: readonly Uint8Array[]): void {
    this.#items = [...items, ...this.#items.slice(this.#from)]
    this.#from = 0
    for (const { length } of items) this.#bytes += length
  }

  /** Removes the oldest item. */
  drop(): void {
    this.#remove(this.#from + 1, this.#items[this.#from]!.length)
  }

  clear(): void {
    this.#items = []
    this.#from = 0
    this.#bytes = 0
  }

  #remove(end: number, bytes: number): void {
    this.#bytes -= bytes
    // Removed items must not stay in memory.
    this.#items.fill(EMPTY, this.#from, end)
    this.#from = end
    if (2 * end < this.#items.length) return
    this.#items.splice(0, end)
    this.#from = 0
  }
}

const EMPTY = new Uint8Array(0)
