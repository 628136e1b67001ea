import type { ApiObject } from '#api/object.ts'
import type { Report } from '../reporting.ts'
import type { Complaint } from '../status/condition.ts'
import { type Listener, tlsModeOf } from './listener.ts'

/** A listener that wants a place at an address and port. */
export interface Claim {
  readonly listener: Listener
  readonly order: string
}

/** Older Gateways first, a Gateway before its ListenerSets, listeners as they are written. */
export function orderOf(gateway: ApiObject, owner: ApiObject, index: number): string {
  const set = owner === gateway ? [] : ageOf(owner)
  return [...ageOf(gateway), ...set, `${index}`.padStart(6, '0')].join('\0')
}

/** Files carry no time and count as oldest (decision A-23). */
function ageOf({ metadata }: ApiObject): readonly string[] {
  return [metadata.creationTimestamp ?? '', metadata.namespace, metadata.name]
}

export function inOrder(a: { readonly order: string }, b: { readonly order: string }): number {
  return a.order < b.order ? -1 : a.order > b.order ? 1 : 0
}

/**
 * Who comes first keeps the place (docs/behaviour/control.md, "Sockets"; decision A-40).
 * @param claims on one address and port, in order
 * @returns the conflicts, by key of the listener that lost
 */
export function judgeClaims(
  claims: readonly Claim[],
  reportOn: (listener: Listener) => Report,
): ReadonlyMap<string, Complaint> {
  const conflicts = new Map<string, Complaint>()
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
  if (first.spec.protocol !== spec.protocol && !(isSecured(first) && isSecured({ spec }))) {
    const message = `port ${spec.port} is already used for protocol ${first.spec.protocol} by ${nameOf(first)}`
    return { code: 'listener-protocol-conflict', reason: 'ProtocolConflict', message } as const
  }
  const rival = hostnames.get(hostname)
  if (rival === undefined) return undefined
  const what = hostname === '' ? 'any hostname' : `hostname ${hostname}`
  const message = `port ${spec.port} with ${what} is already used by ${nameOf(rival)}`
  return { code: 'listener-hostname-conflict', reason: 'HostnameConflict', message } as const
}

/** TLS connections name their host, so that HTTPS and TLS listeners can be told apart on one port. */
function isSecured({ spec }: Pick<Listener, 'spec'>): boolean {
  return tlsModeOf(spec) !== undefined
}

function nameOf({ owner, spec }: Listener): string {
  return `listener ${spec.name} of ${owner.kind} ${owner.metadata.namespace}/${owner.metadata.name}`
}
