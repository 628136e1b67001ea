import type { BodyMemory } from '../body/body-memory.ts'
import type { TimerWheel } from '../timer-wheel.ts'
import type { PlainTransports } from '../transport/plain-transports.ts'
import type { ForwardRules } from './forward-rules.ts'
import type { Lookup } from './names.ts'

/** Settings of a pool of upstream connections. */
export interface PoolSettings {
  /** How long an idle connection is kept. */
  readonly idleTimeoutMs: number
  /** Maximum number of idle HTTP/1 connections per destination. */
  readonly maxIdle: number
  readonly wheel: TimerWheel
  /** Resolves names. */
  readonly lookup: Lookup
  /** Which addresses destinations that clients choose may have. */
  readonly forwardRules: ForwardRules
  /** Transport of connections without TLS. */
  readonly transports: PlainTransports
  /** Memory for bodies that are kept for a retry. */
  readonly bodyMemory: BodyMemory
}
