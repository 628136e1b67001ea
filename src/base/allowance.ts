import { clock } from './clock.ts'

/** How much of something that costs us more than its sender is put up with: `burst` at once, `perSecond` for as long as it likes. */
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

  /** @returns false when it is used up */
  take(): boolean {
    const nowMs = clock.monotonic()
    this.#left = Math.min(this.#burst, this.#left + ((nowMs - this.#atMs) / 1000) * this.#perSecond)
    this.#atMs = nowMs
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
