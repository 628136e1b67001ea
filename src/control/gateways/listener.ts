import type { GatewayObject, ListenerSpec } from '#api/gateway.ts'
import type { ListenerSetObject } from '#api/listener-set.ts'
import type { ClientValidation } from '#plan/item.ts'
import type { Complaint } from '../status/condition.ts'

/** A listener of one of our Gateways, placed and judged. */
export interface Listener {
  /** Key of its plan item. */
  readonly key: string
  /** Key of the place that policies with its `sectionName` attach to. */
  readonly target: string
  readonly gateway: GatewayObject
  /** The object that declares it: the Gateway or a ListenerSet of it. */
  readonly owner: GatewayObject | ListenerSetObject
  readonly spec: ListenerSpec
  /** Field path in its owner. */
  readonly path: string
  readonly address: string
  readonly hostname: string
  readonly certificates: readonly string[]
  readonly clientValidation: ClientValidation | undefined
  readonly supportedKinds: readonly string[]
  readonly faults: ListenerFaults
}

/** What is wrong with a listener, by the condition that says so. */
export interface ListenerFaults {
  /** Nothing of it is served. */
  readonly accepted?: Complaint
  /** Another listener has its place: nothing of it is served. */
  readonly conflicted?: Complaint
  readonly resolvedRefs?: Complaint
  /** It is served, but useless as it is. */
  readonly programmed?: Complaint
}

/** Whether it is part of the plan. */
export function isServed({ faults }: Listener): boolean {
  return faults.accepted === undefined && faults.conflicted === undefined
}

/** Where TLS ends; undefined for protocols without it. A TLS listener that does not say ends it here. */
export function tlsModeOf({ protocol, tls }: ListenerSpec): 'Terminate' | 'Passthrough' | undefined {
  if (protocol === 'HTTPS') return 'Terminate'
  return protocol === 'TLS' ? (tls?.mode ?? 'Terminate') : undefined
}
