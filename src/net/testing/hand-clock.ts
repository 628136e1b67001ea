import { beforeEach, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import type { TimerWheel } from '../timer-wheel.ts'

/** A clock for time limits that the test can advance; it also runs by itself. */
export interface HandClock {
  /** Advances the clock without firing timers. */
  skip(ms: number): void
  /** Advances the clock and fires the due timers of `wheel`. */
  pass(wheel: TimerWheel, ms: number): void
}

/** Creates the clock and registers its hooks in the calling test file. */
export function handClock(): HandClock {
  let ahead = 0
  beforeEach(() => {
    ahead = 0
    const monotonic = clock.monotonic
    vi.spyOn(clock, 'monotonic').mockImplementation(() => monotonic() + ahead)
  })
  const skip = (ms: number) => {
    ahead += ms
  }
  return {
    skip,
    pass(wheel, ms) {
      skip(ms)
      wheel.advance()
    },
  }
}
