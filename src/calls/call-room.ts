/** Maximum number of calls that wait for one destination; further ones fail. */
const MAX_WAITING = 1000

/** The calls of one purpose to one destination. */
interface Destination {
  busy: number
  /** Callbacks of waiting calls, oldest first. */
  readonly waiting: Set<() => void>
}

/** Bounds the concurrent calls to one destination; further calls wait in a queue. */
export class CallRoom {
  readonly #destinations = new Map<string, Destination>()

  /**
   * Calls `go` now, or when there is room.
   * @returns false when too many wait already: `go` is not called
   */
  enter(key: string, atOnce: number, go: () => void): boolean {
    const destination = this.#destinations.get(key) ?? { busy: 0, waiting: new Set() }
    if (destination.busy >= atOnce) {
      if (destination.waiting.size >= MAX_WAITING) return false
      destination.waiting.add(go)
      return true
    }
    destination.busy++
    this.#destinations.set(key, destination)
    go()
    return true
  }

  /** `go` does not wait any more. @returns false when it was called before */
  forget(key: string, go: () => void): boolean {
    return this.#destinations.get(key)?.waiting.delete(go) ?? false
  }

  /** A call that had room is over. */
  leave(key: string): void {
    const destination = this.#destinations.get(key)!
    for (const go of destination.waiting) {
      destination.waiting.delete(go)
      return go()
    }
    destination.busy--
    if (destination.busy === 0) this.#destinations.delete(key)
  }
}
