/** The other side may ask for a longer wait, up to this. */
const MAX_ASKED_MS = 300_000

/** Waits between attempts: each at most twice as long as the one before, and at least half of its maximum, at random. */
export class BackOff {
  readonly #firstMs: number
  readonly #longestMs: number
  readonly #random: () => number
  #nextMs: number

  /** @param random from 0 to 1 */
  constructor(firstMs: number, longestMs: number, random: () => number = Math.random) {
    this.#firstMs = firstMs
    this.#longestMs = longestMs
    this.#random = random
    this.#nextMs = firstMs
  }

  /** The next wait, in ms. @param askedMs how long the other side wants it to be */
  next(askedMs = 0): number {
    const ms = this.#nextMs
    this.#nextMs = Math.min(2 * ms, this.#longestMs)
    return Math.max(jitter(ms, this.#random), Math.min(askedMs, MAX_ASKED_MS))
  }

  /** An attempt made progress. */
  reset(): void {
    this.#nextMs = this.#firstMs
  }
}

/** Between half of a time and all of it, so that clients do not return together. */
export function jitter(ms: number, random: () => number = Math.random): number {
  return ms / 2 + (random() * ms) / 2
}
