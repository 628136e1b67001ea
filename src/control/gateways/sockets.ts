import type { Report } from '../finding-code.ts'
import type { Complaint } from '../status/condition.ts'
import { type Listener, tlsModeOf } from './listener.ts'

interface Socket {
  readonly first: Listener
  readonly hostnames: Map<string, Listener>
}

/** The addresses and ports that listeners claim. Whoever comes first keeps the place. */
export interface Sockets {
  /** Takes the listener's place, or says who has it (docs/behaviour/control.md, "Sockets"; decision A-40). */
  claim(listener: Listener, report: Report): Complaint | undefined
}

export function createSockets(): Sockets {
  const sockets = new Map<string, Socket>()
  return {
    claim(listener, report) {
      const place = `${listener.address} ${listener.spec.port}`
      const socket = sockets.get(place)
      if (socket === undefined) {
        sockets.set(place, { first: listener, hostnames: new Map([[listener.hostname, listener]]) })
        return undefined
      }
      const conflict = conflictOf(listener, socket)
      if (conflict === undefined) {
        socket.hostnames.set(listener.hostname, listener)
        return undefined
      }
      report({ path: listener.path, severity: 'error', ...conflict })
      return { reason: conflict.reason, message: conflict.message }
    },
  }
}

function conflictOf({ spec, hostname }: Listener, { first, hostnames }: Socket) {
  if (spec.protocol === 'TCP' && first.spec.protocol === 'TCP') {
    const message = `port ${spec.port} belongs to ${nameOf(first)}; TCP listeners cannot share one`
    return { code: 'listener-protocol-conflict', reason: 'ProtocolConflict', message } as const
  }
  if (first.spec.protocol !== spec.protocol && !(isSecured(first) && isSecured({ spec }))) {
    const message = `port ${spec.port} speaks ${first.spec.protocol} for ${nameOf(first)}`
    return { code: 'listener-protocol-conflict', reason: 'ProtocolConflict', message } as const
  }
  const rival = hostnames.get(hostname)
  if (rival === undefined) return undefined
  const what = hostname === '' ? 'any hostname' : `hostname ${hostname}`
  const message = `port ${spec.port} with ${what} belongs to ${nameOf(rival)}`
  return { code: 'listener-hostname-conflict', reason: 'HostnameConflict', message } as const
}

/** TLS connections name their host, so that HTTPS and TLS listeners can be told apart on one port. */
function isSecured({ spec }: Pick<Listener, 'spec'>): boolean {
  return tlsModeOf(spec) !== undefined
}

function nameOf({ owner, spec }: Listener): string {
  return `listener ${spec.name} of ${owner.kind} ${owner.metadata.namespace}/${owner.metadata.name}`
}
