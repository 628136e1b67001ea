import type { PlanItem } from '#plan/item.ts'
import type { DiscoveryResponse } from './discovery-messages.ts'
import { HeldVersions, type PlanType, resourceOf, snapshotResource, toMessage } from './plan-resource.ts'

/** A plan that a proxy keeps for the time after a restart of its process. */
export interface KeptPlan {
  /** Milliseconds since the epoch at which the controller last confirmed that it is the newest one. */
  readonly confirmedMs: number
  readonly held: Readonly<Record<PlanType, readonly KeptItem[]>>
}

/** An item, and the version that the controller gave it. */
export interface KeptItem {
  readonly item: PlanItem
  readonly version: string
}

/** The items of one type as a controller would send them. */
export function responseOf(typeUrl: PlanType, items: readonly KeptItem[]): DiscoveryResponse {
  const versions = new HeldVersions()
  for (const { item, version } of items) versions.set(item.key, version)
  const resources = items.map(({ item, version }) => ({ ...resourceOf(item), version }))
  return { typeUrl, resources: [...resources, snapshotResource(typeUrl, versions.snapshot)].map(toMessage) }
}
