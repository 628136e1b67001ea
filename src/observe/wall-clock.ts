import { clock } from '#base/clock.ts'

/** How long the result may be stale after the wall clock was changed. */
const FRESH_MS = 100

/** Converts readings of the monotonic clock to wall-clock time, so that code does not need to read both clocks. */
export class WallClock {
  /** Difference between the wall clock and the monotonic clock. */
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
