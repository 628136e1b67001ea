import type { GatewayObject, ListenerSpec } from '#api/gateway.ts'
import type { ListenerSetObject } from '#api/listener-set.ts'
import type { ClientValidation } from '#plan/item.ts'
import type { Socket } from '#plan/socket.ts'
import type { ConditionFault } from '../context/condition.ts'

/** A listener of a Gateway of this controller, with the results of its checks. */
export interface Listener {
  /** Key of its plan item. */
  readonly key: string
  /** Key of the policy target with its `sectionName`. */
  readonly target: string
  readonly gateway: GatewayObject
  /** The object that contains it: the Gateway or one of its ListenerSets. */
  readonly owner: GatewayObject | ListenerSetObject
  readonly spec: ListenerSpec
  /** Field path in the owner. */
  readonly path: string
  /** Empty if none is left for the Gateway. */
  readonly address: string
  readonly hostname: string
  readonly certificates: readonly string[]
  readonly clientValidation: ClientValidation | undefined
  readonly supportedKinds: readonly string[]
  readonly faults: ListenerFaults
  /** Why clients may reject its certificates; the status has them. */
  readonly notes: readonly string[]
}

/** The faults of a listener, by condition. */
export interface ListenerFaults {
  /** The listener is not served. */
  readonly accepted?: ConditionFault
  /** Another listener claims the address, port and hostname: the listener is not served. */
  readonly conflicted?: ConditionFault
  readonly resolvedRefs?: ConditionFault
  /** The listener is served, but cannot work. */
  readonly programmed?: ConditionFault
}

/** Why the listener is not part of the plan; undefined if it is. */
export function whyNotServed({ faults }: Listener): ConditionFault | undefined {
  return faults.accepted ?? faults.conflicted
}

export function isServed(listener: Listener): boolean {
  return whyNotServed(listener) === undefined
}

/** Why clients cannot use the listener; undefined if they can. */
export function whyUnusable(listener: Listener): ConditionFault | undefined {
  return whyNotServed(listener) ?? listener.faults.programmed
}

export function socketOf({ address, spec }: Listener): Socket {
  return { address, port: spec.port }
}

/** The TLS mode; undefined for protocols without TLS. The default for protocol TLS is Terminate. */
export function tlsModeOf({ protocol, tls }: ListenerSpec): 'Terminate' | 'Passthrough' | undefined {
  if (protocol === 'HTTPS') return 'Terminate'
  return protocol === 'TLS' ? (tls?.mode ?? 'Terminate') : undefined
}
