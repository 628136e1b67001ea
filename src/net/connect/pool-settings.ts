import type { BodyMemory } from '../body/body-memory.ts'
import type { TimerWheel } from '../timer-wheel.ts'
import type { PlainTransports } from '../transport/plain-transports.ts'
import type { Lookup } from './names.ts'

/** Bounds of a pool of upstream connections. */
export interface PoolSettings {
  /** How long a connection without requests is kept. */
  readonly idleTimeoutMs: number
  /** Free HTTP/1 connections kept per destination. */
  readonly maxIdle: number
  readonly wheel: TimerWheel
  /** Finds the addresses of names. */
  readonly lookup: Lookup
  /** How connections without TLS are read and written. */
  readonly transports: PlainTransports
  /** Where bodies that are kept for another try have their place. */
  readonly bodyMemory: BodyMemory
}
