import type { Finding } from '#base/finding.ts'
import type { PlanItem } from '#plan/item.ts'

/** The result of translating all objects: the plan for the data plane, and findings and statuses for users. */
export interface Translation {
  /** The plan, by key of the item. */
  readonly items: ReadonlyMap<string, PlanItem>
  /** In the order of the objects' keys. */
  readonly findings: readonly Finding[]
  /** One for each object whose status this controller writes, in the order of their keys. */
  readonly statuses: readonly ObjectStatus[]
}

/**
 * The status of one object in the form of the Kubernetes API, without times, which `stampStatus` adds. Entries of other controllers are
 * included unchanged.
 */
export interface ObjectStatus {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly status: Readonly<Record<string, unknown>>
}

/** What changed in the statuses. */
export interface StatusChange {
  readonly written: readonly ObjectStatus[]
  /** Keys of the objects whose status this controller no longer writes, because they belong to another controller or were removed. */
  readonly withdrawn: readonly string[]
}
