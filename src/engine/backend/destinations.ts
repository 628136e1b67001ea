import { TUNNEL_PORT } from '#api/own-ports.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Destination, DestinationBounds, DestinationTls, ProxyServer, ProxyTunnel } from '#net/destination.ts'
import { meshId } from '#net/hbone/mesh-id.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import type { BackendHttpSpec } from '#policies/backend/http/schema.ts'
import type { BackendTcpSetting } from '#policies/backend/tcp/compile.ts'
import type { BackendTlsSetting } from '#policies/backend/tls/compile.ts'
import type { KeyPair } from '#policies/shared/connection/key-pair.ts'
import type { Address } from '#protocols/address.ts'
import type { BackendUse } from './backend-context.ts'

/**
 * The connection settings of one address, by kind of request. They differ only in the HTTP version, and only if the request alone
 * determines it (specification 2, 2.3 `http.version`; decision A-106).
 */
export interface Destinations {
  /** For all other requests. */
  readonly usual: Destination
  /** For requests received over HTTP/2 without TLS. */
  readonly plaintextHttp2: Destination
  readonly grpc: Destination
  /** For gRPC calls that the gateway itself makes. They use HTTP/2 whatever version is configured, because there is no other. */
  readonly rpc: Destination
  /** For upgrade requests, which exist only in HTTP/1.1. */
  readonly upgrade: Destination
}

/** @param upgrade the requested protocol; '' without one */
export function chooseDestination(destinations: Destinations, exchange: Exchange, upgrade: string): Destination {
  const { request, version, scheme } = exchange
  if (upgrade !== '') return destinations.upgrade
  // gRPC calls are POST requests; other methods need no check.
  if (request.method === 'POST' && isGrpcRequest(request)) return destinations.grpc
  return version === '2' && scheme === 'http' ? destinations.plaintextHttp2 : destinations.usual
}

/** An address and the kind of traffic that is sent to it. */
export interface AddressUse extends Pick<BackendUse, 'carries'> {
  readonly address: Address
  readonly bounds?: DestinationBounds | undefined
  /** That of the mesh that the gateway is a member of. */
  readonly trustDomain?: string | undefined
}

export interface DestinationSettings {
  readonly tcp: BackendTcpSetting
  readonly tls: BackendTlsSetting | undefined
  /** The client certificate for TLS if `tls` has none. */
  readonly client: KeyPair | undefined
  readonly version: BackendHttpSpec['version']
  readonly tunnel: ProxyServer | undefined
}

export function compileDestinations(
  { address, carries, bounds, trustDomain }: AddressUse,
  { tcp, tls, client, version, tunnel }: DestinationSettings,
): Destinations {
  const { host, port, unixPath, chosenByClient, meshPod } = address
  const { connectTimeoutMs, keepalive } = tcp
  const place = unixPath ?? `${host}:${port}`
  // Connections whose address was not checked must not serve a destination that a client chooses.
  const key = chosenByClient === true ? `chosen ${place}` : place
  const direct: Destination = {
    key,
    host,
    port,
    connectTimeoutMs,
    keepalive,
    ...(unixPath === undefined ? {} : { unixPath }),
    ...(chosenByClient === true && { chosenByClient }),
    ...(bounds === undefined ? {} : { bounds }),
  }
  const identity = withCertificate(tls === undefined ? systemTls(address) : configuredTls(address, tls), client)
  const own = meshPod === undefined || trustDomain === undefined ? direct : inMesh(direct, meshId(trustDomain, meshPod))
  const base = tunnel === undefined ? own : through(direct, tunnel, 'connect')
  if (carries === 'bytes') return bytesDestinations(identity === undefined ? base : secure(base, identity, tls?.alpn))
  const decided = version ?? address.version
  return identity === undefined
    ? plainDestinations(base, decided, tunnel && through(direct, tunnel, 'forward'))
    : securedDestinations(base, identity, tls?.alpn, decided)
}

/** The protocol inside relayed bytes is unknown. */
function bytesDestinations(usual: Destination): Destinations {
  return { usual, plaintextHttp2: usual, grpc: usual, rpc: usual, upgrade: usual }
}

/** @param forward the destination for requests that a proxy server forwards: HTTP/1.1 without upgrades (decision A-105) */
function plainDestinations(
  base: Destination,
  version: BackendHttpSpec['version'],
  forward: Destination = base,
): Destinations {
  const http1: Destination = { ...forward, http: 'http1' }
  const http2: Destination = { ...base, http: 'http2' }
  const usual = version === 'HTTP2' ? http2 : http1
  const plaintextHttp2: Destination = version === undefined ? { ...base, http: 'negotiated', http1 } : usual
  const grpc = version === 'HTTP1' ? http1 : http2
  return { usual, plaintextHttp2, grpc, rpc: http2, upgrade: { ...base, http: 'http1' } }
}

/** Extends the key, so that connections through a proxy server are shared neither with others nor with other uses of it. */
function through(direct: Destination, tunnel: ProxyServer, mode: ProxyTunnel['mode']): Destination {
  const proxies = tunnel.proxies.map(({ key }) => key)
  const key = `${direct.key} ${mode} ${JSON.stringify([proxies, tunnel.authorization])}`
  return { ...direct, key, tunnel: { ...tunnel, mode } }
}

/** Extends the key, so that connections to one pod are not those to another one that gets its address. */
function inMesh(direct: Destination, identity: string): Destination {
  return { ...direct, key: `${direct.key} mesh ${identity}`, tunnel: { mode: 'mesh', port: TUNNEL_PORT, identity } }
}

const H2 = 'h2'
const HTTP1 = 'http/1.1'

/** The ALPN offer if `alpnProtocols` is not set. */
const DEFAULT_ALPN = { HTTP1: [HTTP1], HTTP2: [H2], derived: [H2, HTTP1] } as const

/** With TLS, the server chooses the version. A configured version, and gRPC (HTTP/2 only), restrict the ALPN offer. */
function securedDestinations(
  base: Destination,
  identity: DestinationTls,
  alpn: readonly string[] | undefined,
  version: BackendHttpSpec['version'],
): Destinations {
  const offered = alpn ?? DEFAULT_ALPN[version ?? 'derived']
  const usual = withAlpn(base, identity, offered)
  const onlyH2 = usual.http === 'http2' ? usual : withAlpn(base, identity, DEFAULT_ALPN.HTTP2)
  const withoutH2 = offered.filter((protocol) => protocol !== H2)
  return {
    usual,
    plaintextHttp2: usual,
    grpc: alpn === undefined && version === undefined ? onlyH2 : usual,
    rpc: onlyH2,
    upgrade:
      withoutH2.length === offered.length
        ? usual
        : withAlpn(base, identity, withoutH2.length > 0 ? withoutH2 : [HTTP1]),
  }
}

function withAlpn(base: Destination, identity: DestinationTls, alpn: readonly string[]): Destination {
  const http = !alpn.includes(H2) ? 'http1' : alpn.every((protocol) => protocol === H2) ? 'http2' : 'negotiated'
  return { ...secure(base, identity, alpn), http }
}

/** Extends the key, so that connections with different TLS settings are not shared. */
function secure(base: Destination, identity: DestinationTls, alpn: DestinationTls['alpn']): Destination {
  const tls = { ...identity, alpn }
  return { ...base, key: `${base.key} ${JSON.stringify(tls)}`, tls }
}

function withCertificate(
  identity: DestinationTls | undefined,
  client: KeyPair | undefined,
): DestinationTls | undefined {
  return identity === undefined || identity.cert !== undefined ? identity : { ...identity, ...client }
}

function systemTls(address: Address): DestinationTls | undefined {
  if (!address.tls) return undefined
  const { hostname: serverName } = address
  return { serverName, ca: undefined, cert: undefined, key: undefined, verify: 'full', alpn: undefined }
}

function configuredTls(address: Address, tls: BackendTlsSetting): DestinationTls {
  const { ca, cert, key, verify, subjectAltNames, groups } = tls
  return {
    serverName: tls.serverName ?? address.hostname,
    ca,
    cert,
    key,
    verify,
    alpn: undefined,
    ...(subjectAltNames === undefined ? {} : { subjectAltNames }),
    ...(groups === undefined ? {} : { groups }),
  }
}
