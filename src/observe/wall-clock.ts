import { clock } from '#base/clock.ts'

/** How long after somebody has set the wall clock this one may still show the time before. */
const FRESH_MS = 100

/** Tells the wall-clock time of readings of the monotonic clock: whoever has read one clock need not read the other. */
export class WallClock {
  /** What the wall clock is ahead of the monotonic one. */
  #aheadMs = 0
  #readMs = Number.NEGATIVE_INFINITY

  /** Whole milliseconds since the epoch. */
  at(monotonicMs: number): number {
    if (monotonicMs - this.#readMs >= FRESH_MS) {
      this.#readMs = monotonicMs
      this.#aheadMs = clock.now() - monotonicMs
    }
    return Math.floor(this.#aheadMs + monotonicMs)
  }
}
