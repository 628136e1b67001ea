/** An API that asks for a longer wait is asked again after this time. */
const MAX_ASKED_MS = 300_000

/** Waits between attempts: each at most twice as long as the one before, and at least half of its maximum, at random. */
export class BackOff {
  readonly #firstMs: number
  readonly #maxMs: number
  #nextMs: number

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs
    this.#maxMs = maxMs
    this.#nextMs = firstMs
  }

  /** The next wait, in ms. @param askedMs how long the other side wants it to be */
  next(askedMs = 0): number {
    const ms = this.#nextMs
    this.#nextMs = Math.min(2 * ms, this.#maxMs)
    return Math.max(jitter(ms), Math.min(askedMs, MAX_ASKED_MS))
  }

  /** An attempt made progress. */
  reset(): void {
    this.#nextMs = this.#firstMs
  }
}

/** Between half of a time and all of it, so that clients do not return together. */
export function jitter(ms: number): number {
  return ms / 2 + (Math.random() * ms) / 2
}
