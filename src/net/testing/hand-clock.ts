import { beforeEach, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import type { TimerWheel } from '../timer-wheel.ts'

/** A clock of time limits that a test moves; it goes on by itself as well. */
export interface HandClock {
  /** Moves the clock. No timer notices before its wheel looks. */
  skip(ms: number): void
  /** Moves the clock and lets `wheel` fire what is due. */
  pass(wheel: TimerWheel, ms: number): void
}

/** Registers the hooks of such a clock in the file that calls it. */
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
