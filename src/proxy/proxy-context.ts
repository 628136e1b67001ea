import type { Calls } from '#calls/calls.ts'
import type { PlanIndex } from '#engine/plan-index.ts'
import type { GatewayIdentity } from '#exchange/gateway-identity.ts'
import type { Workloads } from '#exchange/workload.ts'
import type { BodyMemory } from '#net/body/body-memory.ts'
import type { ClientPool } from '#net/stream.ts'
import type { TimerWheel } from '#net/timer-wheel.ts'
import type { DecisionIds } from '#observe/decision-ids.ts'
import type { Observer } from '#observe/observer.ts'
import type { McpMemory } from '#protocols/mcp/mcp-memory.ts'
import type { Sealer } from '#protocols/mcp/sealer.ts'
import type { BackendFacts } from './backend-facts.ts'
import type { Load } from './load.ts'

/** What all requests of one worker share. */
export interface ProxyContext {
  readonly decisionIds: DecisionIds
  /** What expressions may know of the gateway itself. */
  readonly gateway: GatewayIdentity | undefined
  readonly workloads: Workloads
  /** The plan in force; replaced in one assignment. */
  index: PlanIndex
  readonly pool: ClientPool
  readonly calls: Calls
  readonly wheel: TimerWheel
  readonly observer: Observer
  readonly load: Load
  readonly facts: BackendFacts
  readonly bodyMemory: BodyMemory
  readonly mcp: { readonly sealer: Sealer; readonly memory: McpMemory }
  /** Aborted when the proxy begins to drain. */
  readonly draining: AbortSignal
  readonly random: () => number
  /** Monotonic milliseconds. */
  readonly now: () => number
}
