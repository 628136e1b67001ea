import type { PlanIndex } from '#engine/plan-index.ts'
import type { Call } from '#exchange/call.ts'
import type { ClientPool } from '#net/stream.ts'
import type { TimerWheel } from '#net/timer-wheel.ts'
import type { Observer } from '#observe/observer.ts'
import type { McpPorts } from './mcp-ports.ts'

/** What all requests of one worker share. */
export interface ProxyContext {
  readonly workerName: string
  /** The plan in force; replaced in one assignment. */
  readonly index: PlanIndex
  readonly pool: ClientPool
  readonly timers: TimerWheel
  readonly observer: Observer
  readonly call: Call
  readonly mcp: McpPorts
  readonly random: () => number
  /** Monotonic milliseconds. */
  readonly now: () => number
  nextId(): number
}
