import type { PlanItem } from './item.ts'

/** What changed between two plans; what the data plane is sent. */
export interface PlanDelta {
  /** Rises by one with every delta. */
  readonly version: number
  readonly set: readonly PlanItem[]
  readonly removed: readonly string[]
}

/** @returns undefined when nothing changed */
export function diffPlans(
  before: ReadonlyMap<string, PlanItem>,
  after: ReadonlyMap<string, PlanItem>,
  version: number,
): PlanDelta | undefined {
  const set: PlanItem[] = []
  for (const [key, item] of after) {
    const old = before.get(key)
    if (old === undefined || (old !== item && JSON.stringify(old) !== JSON.stringify(item))) set.push(item)
  }
  const removed = [...before.keys()].filter((key) => !after.has(key))
  return set.length === 0 && removed.length === 0 ? undefined : { version, set, removed }
}

/** Applies a delta; items that did not change stay the very same objects, which is what memoised merges check. */
export function applyDelta(plan: ReadonlyMap<string, PlanItem>, delta: PlanDelta): Map<string, PlanItem> {
  const next = new Map(plan)
  for (const key of delta.removed) next.delete(key)
  for (const item of delta.set) next.set(item.key, item)
  return next
}
