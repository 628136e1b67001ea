import type { PeerCertificate } from '#net/peer.ts'
import type { Exchange } from '../exchange.ts'
import { spiffeIdOf } from '../spiffe-id.ts'
import type { Workload } from '../workload.ts'
import { type Declared, nonEmpty } from './declared.ts'
import { headerVariable } from './header-view.ts'
import { addressMisfit } from './misfits.ts'

/** The client, at the level of the connection. */
export const SOURCE: readonly Declared[] = [
  addressVariable('source.address', ({ peer }) => peer.remoteAddress),
  { path: 'source.port', type: 'int', always: true, read: ({ peer }) => peer.remotePort },
  addressVariable('source.rawAddress', ({ peer }) => peer.rawAddress),
  { path: 'source.rawPort', type: 'int', always: true, read: ({ peer }) => peer.rawPort },
]

/** Fields of a verified client certificate. */
export const CERTIFICATE: readonly Declared[] = [
  { path: 'source.identity.trustDomain', type: 'string', read: (x) => identity(x)?.trustDomain },
  { path: 'source.identity.namespace', type: 'string', read: (x) => identity(x)?.namespace },
  { path: 'source.identity.serviceAccount', type: 'string', read: (x) => identity(x)?.serviceAccount },
  { path: 'source.spiffeId', type: 'string', read: (x) => spiffeIdOf(certificate(x)) },
  { path: 'source.subjectAltNames', type: 'list(string)', read: (x) => certificate(x)?.subjectAltNames },
  { path: 'source.issuer', type: 'string', read: (x) => certificate(x)?.issuer },
  { path: 'source.subject', type: 'string', read: (x) => certificate(x)?.subject },
  { path: 'source.subjectCn', type: 'string', read: (x) => nonEmpty(certificate(x)?.subjectCn) },
  { path: 'source.certificate', type: 'string', read: (x) => certificate(x)?.pem },
]

/** The Pod with the address of the client: found by lookup, not authenticated. */
export const WORKLOAD: readonly Declared[] = [
  { path: 'source.unverifiedWorkload.name', type: 'string', read: (x) => nonEmpty(workload(x)?.name) },
  { path: 'source.unverifiedWorkload.namespace', type: 'string', read: (x) => nonEmpty(workload(x)?.namespace) },
  {
    path: 'source.unverifiedWorkload.serviceAccount',
    type: 'string',
    read: (x) => nonEmpty(workload(x)?.serviceAccount),
  },
]

/**
 * Headers of a CONNECT request that established a tunnel. The gateway refuses CONNECT (docs/behaviour/http.md), so they are always absent.
 */
export const TUNNEL: readonly Declared[] = [headerVariable('source.connectHeaders', 'request', () => undefined, false)]

function addressVariable(path: string, read: (exchange: Exchange) => string): Declared {
  return { path, type: 'string', always: true, read, misfit: addressMisfit(path) }
}

function certificate({ peer }: Exchange): PeerCertificate | undefined {
  return peer.certificate
}

function workload(exchange: Exchange): Workload | undefined {
  return exchange.workloads?.at(exchange.peer.remoteAddress)
}

const MESH_IDENTITY = /^spiffe:\/\/(?<trustDomain>[^/]+)\/ns\/(?<namespace>[^/]+)\/sa\/(?<serviceAccount>[^/]+)$/

/** The parts of a SPIFFE id in the form that service meshes use; other SPIFFE ids have no parts. */
function identity(exchange: Exchange) {
  return MESH_IDENTITY.exec(spiffeIdOf(certificate(exchange)) ?? '')?.groups
}
