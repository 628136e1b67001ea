import type { PlanItem } from './item.ts'

/** The difference between two plans. */
export interface PlanChange {
  readonly set: readonly PlanItem[]
  /** Keys. */
  readonly removed: readonly string[]
}

/** A change in the form that is sent to the data plane. */
export interface PlanDelta extends PlanChange {
  /** Increases by one with every delta. */
  readonly version: number
}

/** The whole plan as a change of an empty one. */
export function wholePlan(items: ReadonlyMap<string, PlanItem>): PlanChange {
  return { set: [...items.values()], removed: [] }
}
