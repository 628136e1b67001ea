import { afterEach } from 'vitest'
import type { PoolSettings } from '../connect/pool-settings.ts'
import { createClientPool } from '../pool/client-pool.ts'
import type { ClientPool } from '../stream.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { handClock } from './hand-clock.ts'
import { wireTransports } from './wire-transports.ts'

/** Pools whose time limits pass when a test says so, and what is undone after each test. */
export interface PoolRig {
  /** Called after the test, in order. */
  readonly cleanup: (() => unknown)[]
  /** A pool, closed after the test, and `pass`, which lets its time limits see that `ms` more have passed. */
  newPool(settings?: Partial<PoolSettings>): { readonly pool: ClientPool; pass(ms: number): void }
  /** Moves the clock of time limits, which no timer notices yet. */
  skip(ms: number): void
}

/** Registers the hooks of a rig in the file that calls it. */
export function poolRig(): PoolRig {
  const cleanup: (() => unknown)[] = []
  const { skip, pass } = handClock()
  afterEach(() => {
    for (const undo of cleanup.splice(0)) undo()
  })
  return {
    cleanup,
    newPool(settings = {}) {
      const wheel = new TimerWheel()
      const pool = createClientPool({ wheel, transports: wireTransports(), ...settings })
      cleanup.push(() => pool.close())
      return { pool, pass: (ms) => pass(wheel, ms) }
    },
    skip,
  }
}
