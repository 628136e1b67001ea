/** An item of a `LinkedList`, which alone writes the links. */
export interface Linked<T> {
  previous: T | null
  next: T | null
}

/**
 * Items that come and go with every request, oldest first. An item carries its own links. A `Set` replaces its table after every few additions, and
 * the tables that it leaves, with the items in them, stay until the old generation is collected (decision 0190, "The cost of a question").
 */
export class LinkedList<T extends Linked<T>> {
  size = 0
  #first: T | null = null
  #last: T | null = null

  /** Adds `item`, which is in no list. */
  add(item: T): void {
    item.previous = this.#last
    if (this.#last === null) this.#first = item
    else this.#last.next = item
    this.#last = item
    this.size++
  }

  /** Removes `item`, unless it is in no list. */
  delete(item: T): void {
    const { previous, next } = item
    if (previous === null && this.#first !== item) return
    if (previous === null) this.#first = next
    else previous.next = next
    if (next === null) this.#last = previous
    else next.previous = previous
    // An item that has left must not keep others in memory.
    item.previous = null
    item.next = null
    this.size--
  }

  /** The oldest item; null if there is none. */
  get first(): T | null {
    return this.#first
  }

  /** The present items. */
  get items(): T[] {
    const items: T[] = []
    for (let item = this.#first; item !== null; item = item.next) items.push(item)
    return items
  }
}
