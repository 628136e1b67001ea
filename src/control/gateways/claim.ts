import type { ApiObject } from '#api/object.ts'
import { compareText } from '#base/compare-text.ts'
import type { Listener } from './listener.ts'

/** A listener that wants to use an address and port. */
export interface Claim {
  readonly listener: Listener
  /** Sort key of its precedence, see `orderOf`. */
  readonly order: string
}

/** Sort key: older Gateways first, a Gateway before its ListenerSets, listeners in the order of `spec.listeners`. */
export function orderOf(gateway: ApiObject, owner: ApiObject, index: number): string {
  const set = owner === gateway ? ['gateway'] : ['listener-set', ...ageOf(owner)]
  return [...ageOf(gateway), ...set, `${index}`.padStart(6, '0')].join('\0')
}

/** Objects from files have no creation time and count as oldest (decision A-23). */
function ageOf({ metadata }: ApiObject): readonly string[] {
  return [metadata.creationTimestamp ?? '', metadata.namespace, metadata.name]
}

export function byOrder(a: { readonly order: string }, b: { readonly order: string }): number {
  return compareText(a.order, b.order)
}
