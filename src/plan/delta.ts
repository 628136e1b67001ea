import type { PlanItem } from './item.ts'

/** What changed between two plans. */
export interface PlanChange {
  readonly set: readonly PlanItem[]
  /** Keys. */
  readonly removed: readonly string[]
}

/** A change as the data plane is sent it. */
export interface PlanDelta extends PlanChange {
  /** Rises by one with every delta. */
  readonly version: number
}

/** A plan as the change that makes it of an empty one. */
export function wholePlan(items: ReadonlyMap<string, PlanItem>): PlanChange {
  return { set: [...items.values()], removed: [] }
}
