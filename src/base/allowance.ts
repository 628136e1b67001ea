import { clock } from './clock.ts'

/** A rate limit for events that cost the gateway more than their sender: `burst` at once, then `perSecond`. */
export class Allowance {
  readonly #burst: number
  readonly #perSecond: number
  #left: number
  #atMs = clock.monotonic()

  constructor(burst: number, perSecond: number) {
    this.#burst = burst
    this.#perSecond = perSecond
    this.#left = burst
  }

  /** @returns false if the limit is reached */
  take(): boolean {
    const nowMs = clock.monotonic()
    this.#left = Math.min(this.#burst, this.#left + ((nowMs - this.#atMs) / 1000) * this.#perSecond)
    this.#atMs = nowMs
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
