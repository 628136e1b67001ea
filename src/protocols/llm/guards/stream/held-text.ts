/** Text that guards hold back, in bytes. Over a limit, the stream that needs more is refused. */
const MAX_PER_STREAM = 64 * 1024
const MAX_PER_WORKER = 64 * 1024 * 1024

/** Of this worker: each has its own copy of this module. */
let heldByAll = 0

/** The share of one stream. */
export class HeldText {
  #held = 0

  get bytes(): number {
    return this.#held
  }

  /** @returns false if there is no room */
  take(bytes: number): boolean {
    // One event may be larger than what a stream may hold of several.
    const isAlone = this.#held === 0
    if ((!isAlone && this.#held + bytes > MAX_PER_STREAM) || heldByAll + bytes > MAX_PER_WORKER) return false
    this.#held += bytes
    heldByAll += bytes
    return true
  }

  give(bytes: number): void {
    this.#held -= bytes
    heldByAll -= bytes
  }

  drop(): void {
    this.give(this.#held)
  }
}
