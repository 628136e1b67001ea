import type { PlanNames } from '#exchange/exchange.ts'
import type { WeightedBackend } from '#plan/item.ts'
import type { PlanCompileContext, SharedState } from '../merge/compile-context.ts'
import type { MergedField } from '../merge/merge.ts'
import type { Lookups } from '../plan/lookups.ts'

/** Where a backend is used from: the rule's names and what policies of the rule attach to, weakest first. */
export interface BackendUse {
  readonly reference: WeightedBackend
  readonly names: PlanNames
  readonly targets: readonly string[]
  /** What is sent there: requests, or the bytes of connections as they are. */
  readonly carries: 'requests' | 'bytes'
}

/** What building asks for. */
export interface BackendContext {
  readonly lookups: Lookups
  /** For this backend alone. */
  readonly context: PlanCompileContext
  readonly state: SharedState
}

/** What applies to a backend, or to one section of it. */
export interface BackendMerge {
  readonly targets: readonly string[]
  readonly fields: ReadonlyMap<string, MergedField>
}
