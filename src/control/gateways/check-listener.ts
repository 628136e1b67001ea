import type { ListenerSpec } from '#api/gateway.ts'
import { GATEWAY_GROUP } from '#api/groups.ts'
import { OWN_PORTS, TUNNEL_PORT } from '#api/own-ports.ts'
import type { ConditionFault } from '../context/condition.ts'
import { reportAddress } from '../context/hostname.ts'
import type { Report } from '../context/reporting.ts'
import { type ListenerFaults, tlsModeOf } from './listener.ts'

/** Ports that the gateway itself uses. */
const RESERVED_PORTS = new Map<number, string>([
  [OWN_PORTS.admin, 'the admin server'],
  [OWN_PORTS.api, 'the resource API'],
  [OWN_PORTS.metrics, 'metrics'],
  [OWN_PORTS.readiness, 'health'],
])

const REQUEST_ROUTES = ['HTTPRoute', 'GRPCRoute']

/** The route kinds that a listener can serve (Gateway API, AllowedRoutes); undefined for an unknown protocol. */
function servedKinds(spec: ListenerSpec): readonly string[] | undefined {
  switch (spec.protocol) {
    case 'HTTP':
    case 'HTTPS':
      return REQUEST_ROUTES
    case 'TCP':
      return ['TCPRoute']
    case 'TLS':
      return tlsModeOf(spec) === 'Terminate' ? ['TLSRoute', 'TCPRoute'] : ['TLSRoute']
    default:
      return undefined
  }
}

/**
 * Checks a listener by itself; conflicts with other listeners are found later.
 * @param isInMesh the proxy of its Gateway accepts tunnels of a mesh
 */
export function checkListener(
  spec: ListenerSpec,
  path: string,
  isInMesh: boolean,
  report: Report,
): Pick<ListenerFaults, 'accepted'> {
  if (spec.hostname !== undefined) reportAddress(spec.hostname, `${path}.hostname`, report)
  const accepted = checkProtocol(spec, path, report) ?? checkPort(spec, path, isInMesh, report)
  return accepted === undefined ? {} : { accepted }
}

function checkProtocol(spec: ListenerSpec, path: string, report: Report): ConditionFault | undefined {
  const { protocol, tls, hostname } = spec
  const refuse = (field: string, reason: string, message: string) => {
    report({ path: `${path}.${field}`, code: 'listener-protocol', message, severity: 'error' })
    return { reason, message }
  }
  if (servedKinds(spec) === undefined) {
    const message = `protocol ${protocol} is not supported; use HTTP, HTTPS, TLS or TCP`
    return refuse('protocol', 'UnsupportedProtocol', message)
  }
  if (protocol === 'HTTPS' && tls?.mode === 'Passthrough') {
    const message = 'mode Passthrough requires protocol TLS; an HTTPS listener terminates TLS'
    return refuse('tls.mode', 'UnsupportedValue', message)
  }
  // Refused, so that plain text is not mistaken for TLS.
  if (tls !== undefined && (protocol === 'HTTP' || protocol === 'TCP')) {
    const secured = protocol === 'HTTP' ? 'HTTPS' : 'TLS'
    const message = `a listener with protocol ${protocol} cannot have tls; remove it, or use protocol ${secured}`
    return refuse('tls', 'UnsupportedValue', message)
  }
  if (protocol === 'TCP' && hostname !== undefined) {
    return refuse(
      'hostname',
      'UnsupportedValue',
      'a TCP listener cannot have a hostname; remove it, or use protocol HTTP, HTTPS or TLS',
    )
  }
  return undefined
}

function checkPort(
  { port }: ListenerSpec,
  path: string,
  isInMesh: boolean,
  report: Report,
): ConditionFault | undefined {
  const user = isInMesh && port === TUNNEL_PORT ? 'tunnels of the mesh' : RESERVED_PORTS.get(port)
  if (user === undefined) return undefined
  const message = `port ${port} is reserved for ${user}`
  report({ path: `${path}.port`, code: 'listener-port-reserved', message, severity: 'error' })
  return { reason: 'PortUnavailable', message }
}

/** The kinds of `allowedRoutes.kinds` that the listener can serve, and a fault if it cannot serve all of them. */
export function resolveRouteKinds(
  spec: ListenerSpec,
  path: string,
  report: Report,
): { readonly kinds: readonly string[]; readonly fault?: ConditionFault } {
  const served = servedKinds(spec) ?? []
  const wanted = spec.allowedRoutes.kinds ?? []
  if (wanted.length === 0) return { kinds: served }
  const isServedKind = (kind: (typeof wanted)[number]) => kind.group === GATEWAY_GROUP && served.includes(kind.kind)
  const kinds = wanted.filter(isServedKind).map(({ kind }) => kind)
  const unknown = wanted.filter((kind) => !isServedKind(kind)).map(({ kind }) => kind)
  if (unknown.length === 0) return { kinds }
  const message = `${spec.protocol} listeners serve ${served.join(' and ') || 'no routes'}, not ${unknown.join(', ')}`
  report({ path: `${path}.allowedRoutes.kinds`, code: 'listener-route-kinds', message, severity: 'error' })
  return { kinds, fault: { reason: 'InvalidRouteKinds', message } }
}
