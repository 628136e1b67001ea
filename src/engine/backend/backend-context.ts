import type { PlanNames } from '#exchange/exchange.ts'
import type { WeightedBackend } from '#plan/item.ts'
import type { Lookups } from '../lookups/lookups.ts'
import type { PlanCompileContext, SharedState } from '../merge/compile-context.ts'
import type { MergedField } from '../merge/merge.ts'

/** The use of a backend by a route rule: the names of the rule, and the targets of policies that apply to it, weakest first. */
export interface BackendUse {
  readonly reference: WeightedBackend
  readonly names: PlanNames
  readonly targets: readonly string[]
  /** The traffic it receives: requests, or the raw bytes of relayed connections. */
  readonly carries: 'requests' | 'bytes'
}

/** Inputs of `buildLiveBackend`. */
export interface BackendContext {
  readonly lookups: Lookups
  /** Used for this backend only. */
  readonly context: PlanCompileContext
  readonly state: SharedState
}

/** The policies that apply to a backend, or to one section of it. */
export interface BackendMerge {
  readonly targets: readonly string[]
  readonly fields: ReadonlyMap<string, MergedField>
}
