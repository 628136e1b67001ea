import type { GuardLoad } from '#exchange/guard-load.ts'

/** Text that the guards of one stream may hold back, in bytes, besides one event that is larger. */
const MAX_PER_STREAM = 64 * 1024

/** What one stream holds back. Over a limit, the stream that needs more is refused. */
export class HeldText {
  readonly #load: GuardLoad
  #held = 0
  /** Of `#held`, the one event that is larger than the limit. */
  #large = 0

  constructor(load: GuardLoad) {
    this.#load = load
  }

  get bytes(): number {
    return this.#held
  }

  /** @returns false if there is no room */
  take(bytes: number): boolean {
    const isLarge = bytes > MAX_PER_STREAM
    if (isLarge ? this.#large > 0 : this.#held - this.#large + bytes > MAX_PER_STREAM) return false
    if (!this.#load.take(bytes)) return false
    this.#held += bytes
    if (isLarge) this.#large = bytes
    return true
  }

  /** @param bytes of an event that was taken */
  give(bytes: number): void {
    if (bytes > MAX_PER_STREAM) this.#large = 0
    this.#release(bytes)
  }

  drop(): void {
    this.#large = 0
    this.#release(this.#held)
  }

  #release(bytes: number): void {
    this.#held -= bytes
    this.#load.give(bytes)
  }
}
