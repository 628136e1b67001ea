import { keyOf } from '#api/object.ts'
import type { ConditionFault } from '../context/condition.ts'
import type { Report } from '../context/reporting.ts'
import type { Claim } from './claim.ts'
import { type Listener, tlsModeOf } from './listener.ts'

/**
 * Finds conflicts between listeners (docs/behaviour/control.md, "Sockets"; decision A-40). Of the listeners of one object that cannot be
 * distinguished none is served, because the choice would be arbitrary (Gateway API, "Handling indistinct Listeners"). Between objects,
 * the one with higher precedence keeps its claims, even on listeners that are not served: no other object takes over their traffic. A
 * listener that lost to another object claims nothing from the others of its own object.
 * @param claims the claims on one address and port, in order of precedence
 * @returns the conflicts, by key of the listener that is not served
 */
export function findConflicts(
  claims: readonly Claim[],
  reportOn: (listener: Listener) => Report,
): ReadonlyMap<string, ConditionFault> {
  const conflicts = new Map<string, ConditionFault>()
  const note = (listener: Listener, { reason, message }: ConditionFault) => {
    const code = reason === 'ProtocolConflict' ? 'listener-protocol-conflict' : 'listener-hostname-conflict'
    reportOn(listener)({ path: listener.path, severity: 'error', code, message })
    conflicts.set(listener.key, { reason, message })
  }
  const earlier = new ClaimIndex()
  for (const claimsOfOwner of Map.groupBy(claims, ({ listener }) => keyOf(listener.owner)).values()) {
    const own = claimsOfOwner.map(({ listener }) => listener)
    const lost = new Set(own.filter((listener) => earlier.rivalOf(listener) !== undefined))
    const kept = own.filter((listener) => !lost.has(listener))
    const ofOwner = new ClaimIndex(kept)
    for (const listener of lost) note(listener, lossOf(listener, earlier.rivalOf(listener)!))
    for (const listener of kept) {
      const rival = ofOwner.rivalOf(listener)
      if (rival !== undefined) note(listener, tieOf(listener, rival))
    }
    for (const listener of kept) earlier.add(listener)
  }
  return conflicts
}

/** Claims by their distinguishing property. One rival is enough, so at most two listeners are kept for each key. */
class ClaimIndex {
  readonly #byFamily = new Map<string, Listener>()
  readonly #byHostname = new Map<string, readonly Listener[]>()

  constructor(listeners: readonly Listener[] = []) {
    for (const listener of listeners) this.add(listener)
  }

  add(listener: Listener): void {
    const { spec, hostname } = listener
    const family = familyOf(spec)
    if (!this.#byFamily.has(family)) this.#byFamily.set(family, listener)
    const same = this.#byHostname.get(hostname) ?? []
    if (same.length < 2) this.#byHostname.set(hostname, [...same, listener])
  }

  /** Another listener that connections to this one may be meant for. */
  rivalOf(listener: Listener): Listener | undefined {
    const family = familyOf(listener.spec)
    for (const [other, first] of this.#byFamily) if (other !== family) return first
    return this.#byHostname.get(listener.hostname)?.find((other) => other !== listener)
  }
}

/** Listeners of one family are distinguished by hostname: that of the request, or the server name of the TLS handshake. */
function familyOf(spec: Listener['spec']): string {
  return tlsModeOf(spec) === undefined ? spec.protocol : 'TLS'
}

function lossOf(listener: Listener, rival: Listener): ConditionFault {
  const { reason, what, remedy } = describeConflict(listener, rival)
  return { reason, message: `${what} is already used by ${nameOf(rival)}, which takes precedence; use ${remedy}` }
}

function tieOf(listener: Listener, rival: Listener): ConditionFault {
  const { reason, what, remedy } = describeConflict(listener, rival)
  return {
    reason,
    message: `${what} is also used by ${nameOf(rival)}, so neither is served; give one of them ${remedy}`,
  }
}

/** TCP listeners have no hostname, so they conflict by their protocol. */
function describeConflict({ spec, hostname }: Listener, rival: Listener) {
  const { port, protocol } = spec
  if (familyOf(spec) !== familyOf(rival.spec) || protocol === 'TCP') {
    return { reason: 'ProtocolConflict', what: `port ${port}`, remedy: 'another port' } as const
  }
  const what = `port ${port} with ${hostname === '' ? 'any hostname' : `hostname ${hostname}`}`
  const reason = protocol === rival.spec.protocol ? 'HostnameConflict' : 'ProtocolConflict'
  return { reason, what, remedy: 'another port or hostname' } as const
}

function nameOf({ owner, spec }: Listener): string {
  const { kind, metadata } = owner
  return `listener ${spec.name} (${spec.protocol}) of ${kind} ${metadata.namespace}/${metadata.name}`
}
