import type { Finding } from '#base/finding.ts'
import type { PlanItem } from '#plan/item.ts'

/** What all objects together mean: what the data plane runs on, and what the authors of the objects are told. */
export interface Translation {
  /** By key. */
  readonly items: ReadonlyMap<string, PlanItem>
  /** In the order of the objects' keys. */
  readonly findings: readonly Finding[]
  /** One for each object whose status is ours to write, in the order of their keys. */
  readonly statuses: readonly ObjectStatus[]
}

/** Whether a listener takes connections (decision A-34). */
export type Binding =
  | { readonly state: 'bound' }
  /** `reason`: CamelCase, such as `PortUnavailable`. */
  | { readonly state: 'failed'; readonly reason: string; readonly message: string }

/**
 * The status of one object as Kubernetes shapes it, without times: whoever stores it keeps the `lastTransitionTime` of conditions that
 * did not change. Entries of other controllers are in it as they were.
 */
export interface ObjectStatus {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly status: Readonly<Record<string, unknown>>
}
