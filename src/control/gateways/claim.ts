import type { ApiObject } from '#api/object.ts'
import type { Report } from '../reporting.ts'
import type { ConditionFault } from '../status/condition.ts'
import { type Listener, tlsModeOf } from './listener.ts'

/** A listener that wants to use an address and port. */
export interface Claim {
  readonly listener: Listener
  /** Sort key of its precedence, see `orderOf`. */
  readonly order: string
}

/** Sort key: older Gateways first, a Gateway before its ListenerSets, listeners in the order of `spec.listeners`. */
export function orderOf(gateway: ApiObject, owner: ApiObject, index: number): string {
  const set = owner === gateway ? [] : ageOf(owner)
  return [...ageOf(gateway), ...set, `${index}`.padStart(6, '0')].join('\0')
}

/** Objects from files have no creation time and count as oldest (decision A-23). */
function ageOf({ metadata }: ApiObject): readonly string[] {
  return [metadata.creationTimestamp ?? '', metadata.namespace, metadata.name]
}

export function byOrder(a: { readonly order: string }, b: { readonly order: string }): number {
  return a.order < b.order ? -1 : a.order > b.order ? 1 : 0
}

/**
 * Finds conflicts between listeners. The listener with the highest precedence is served (docs/behaviour/control.md, "Sockets"; decision
 *
 * @param claims the claims on one address and port, in order of precedence
 * @returns the conflicts, by key of the listener that is not served
 */
export function findConflicts(
  claims: readonly Claim[],
  reportOn: (listener: Listener) => Report,
): ReadonlyMap<string, ConditionFault> {
  const conflicts = new Map<string, ConditionFault>()
  const first = claims[0]!.listener
  const hostnames = new Map<string, Listener>()
  for (const { listener } of claims) {
    const conflict = listener === first ? undefined : conflictOf(listener, first, hostnames)
    if (conflict === undefined) {
      hostnames.set(listener.hostname, listener)
      continue
    }
    reportOn(listener)({ path: listener.path, severity: 'error', ...conflict })
    conflicts.set(listener.key, { reason: conflict.reason, message: conflict.message })
  }
  return conflicts
}

function conflictOf({ spec, hostname }: Listener, first: Listener, hostnames: ReadonlyMap<string, Listener>) {
  if (spec.protocol === 'TCP' && first.spec.protocol === 'TCP') {
    const message = `port ${spec.port} is already used by ${nameOf(first)}; TCP listeners cannot share a port`
    return { code: 'listener-protocol-conflict', reason: 'ProtocolConflict', message } as const
  }
  if (first.spec.protocol !== spec.protocol && !(usesTls(first) && usesTls({ spec }))) {
    const message = `port ${spec.port} is already used for protocol ${first.spec.protocol} by ${nameOf(first)}`
    return { code: 'listener-protocol-conflict', reason: 'ProtocolConflict', message } as const
  }
  const owner = hostnames.get(hostname)
  if (owner === undefined) return undefined
  const what = hostname === '' ? 'any hostname' : `hostname ${hostname}`
  const message = `port ${spec.port} with ${what} is already used by ${nameOf(owner)}`
  return { code: 'listener-hostname-conflict', reason: 'HostnameConflict', message } as const
}

/** The server name of the TLS handshake distinguishes HTTPS and TLS listeners on the same port. */
function usesTls({ spec }: Pick<Listener, 'spec'>): boolean {
  return tlsModeOf(spec) !== undefined
}

function nameOf({ owner, spec }: Listener): string {
  return `listener ${spec.name} of ${owner.kind} ${owner.metadata.namespace}/${owner.metadata.name}`
}
