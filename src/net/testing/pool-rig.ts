import { afterEach } from 'vitest'
import type { PoolSettings } from '../connect/pool-settings.ts'
import { createClientPool } from '../pool/client-pool.ts'
import type { ClientPool } from '../stream.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { handClock } from './hand-clock.ts'
import { wireTransports } from './wire-transports.ts'

/** Pools whose time limits the test controls, and clean-up after each test. */
export interface PoolRig {
  /** Called after the test, in order. */
  readonly cleanup: (() => unknown)[]
  /** Creates a pool, closed after the test, and `pass`, which advances the clock by `ms` and fires due time limits. */
  newPool(settings?: Partial<PoolSettings>): { readonly pool: ClientPool; pass(ms: number): void }
  /** Advances the clock without firing timers. */
  skip(ms: number): void
}

/** Creates a rig and registers its hooks in the calling test file. */
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
