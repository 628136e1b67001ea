import type { GuardLoad } from '#exchange/guard-load.ts'

/** Text that the guards of one stream may hold back, in bytes. */
const MAX_PER_STREAM = 64 * 1024

/** What one stream holds back. Over a limit, the stream that needs more is refused. */
export class HeldText {
  readonly #load: GuardLoad
  #held = 0

  constructor(load: GuardLoad) {
    this.#load = load
  }

  get bytes(): number {
    return this.#held
  }

  /** @returns false if there is no room */
  take(bytes: number): boolean {
    // One event may be larger than what a stream may hold of several.
    const isAlone = this.#held === 0
    if (!isAlone && this.#held + bytes > MAX_PER_STREAM) return false
    if (!this.#load.take(bytes)) return false
    this.#held += bytes
    return true
  }

  give(bytes: number): void {
    this.#held -= bytes
    this.#load.give(bytes)
  }

  drop(): void {
    this.give(this.#held)
  }
}
