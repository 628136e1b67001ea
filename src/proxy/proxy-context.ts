import type { Sealer } from '#base/sealer.ts'
import type { Calls } from '#calls/calls.ts'
import type { PlanIndex } from '#engine/lookups/plan-index.ts'
import type { GatewayIdentity } from '#exchange/gateway-identity.ts'
import type { GuardLoad } from '#exchange/guard-load.ts'
import type { LlmPrices } from '#exchange/llm-prices.ts'
import type { Workloads } from '#exchange/workload.ts'
import type { BodyMemory } from '#net/body/body-memory.ts'
import type { ClientPool } from '#net/stream.ts'
import type { TimerWheel } from '#net/timer-wheel.ts'
import type { DecisionIds } from '#observe/decision-ids.ts'
import type { Observer } from '#observe/observer.ts'
import type { ToolChanges } from '#protocols/backend-protocol.ts'
import type { Channels } from '#state/channels.ts'
import type { Load } from '#state/load.ts'
import type { SharedTable } from '#state/shared-table.ts'
import type { BackendFacts } from './backend-facts.ts'
import type { CutOff } from './cut-off.ts'
import type { EndlessStreams } from './endless-streams.ts'
import type { Mirrors } from './mirrors.ts'

/** State that all requests of one worker share. */
export interface ProxyContext {
  readonly decisionIds: DecisionIds
  /** The `env` variables of expressions. */
  readonly gateway: GatewayIdentity | undefined
  readonly workloads: Workloads
  /** The current plan; replaced in one assignment. */
  index: PlanIndex
  readonly pool: ClientPool
  readonly calls: Calls
  readonly mirrors: Mirrors
  readonly wheel: TimerWheel
  readonly observer: Observer
  readonly load: Load
  readonly guardLoad: GuardLoad
  readonly facts: BackendFacts
  readonly prices: LlmPrices
  readonly bodyMemory: BodyMemory
  /** New requests are refused. */
  heapIsFull: boolean
  /** Bytes of each body that decision records have. */
  readonly recordBodyBytes: number
  /** For protocols that serve requests themselves. */
  readonly sealer: Sealer
  readonly table: SharedTable
  readonly channels: Channels
  readonly toolsChanged: (changes: ToolChanges) => void
  /** Aborted when the proxy begins to drain. */
  readonly draining: AbortSignal
  readonly endless: EndlessStreams
  readonly cutOff: CutOff
  readonly random: () => number
  /** Monotonic milliseconds. */
  readonly now: () => number
}
