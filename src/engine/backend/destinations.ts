import type { Exchange } from '#exchange/exchange.ts'
import type { Destination, DestinationBounds, DestinationTls } from '#net/destination.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import type { BackendHttpSpec } from '#policies/backend/http/schema.ts'
import type { BackendTcpSetting } from '#policies/backend/tcp/compile.ts'
import type { BackendTlsSetting } from '#policies/backend/tls/compile.ts'
import type { Address } from '#protocols/address.ts'
import type { BackendUse } from './backend-context.ts'

/**
 * Where the requests to one address go, by what they are. They differ in what is spoken there, and only where nothing but the
 * request decides that (specification 2, 2.3 `http.version`; decision A-106).
 */
export interface Destinations {
  /** Of requests that are none of the others. */
  readonly usual: Destination
  /** Of requests that came over HTTP/2 in plaintext. */
  readonly plaintextHttp2: Destination
  readonly grpc: Destination
  /** Of requests that ask for an upgrade, which only HTTP/1.1 has. */
  readonly upgrade: Destination
}

/** @param upgrade the protocol that is asked for; '' without one */
export function chooseDestination(destinations: Destinations, exchange: Exchange, upgrade: string): Destination {
  const { request, version, scheme } = exchange
  if (upgrade !== '') return destinations.upgrade
  // Calls are POSTs; no others are looked into.
  if (request.method === 'POST' && isGrpcRequest(request)) return destinations.grpc
  return version === '2' && scheme === 'http' ? destinations.plaintextHttp2 : destinations.usual
}

/** An address, and what is sent there. */
export interface Way extends Pick<BackendUse, 'carries'> {
  readonly address: Address
  readonly bounds?: DestinationBounds | undefined
}

export interface DestinationSettings {
  readonly tcp: BackendTcpSetting
  readonly tls: BackendTlsSetting | undefined
  readonly version: BackendHttpSpec['version']
}

export function compileDestinations(
  { address, carries, bounds }: Way,
  { tcp, tls, version }: DestinationSettings,
): Destinations {
  const { host, port, unixPath } = address
  const { connectTimeoutMs, keepalive } = tcp
  const key = unixPath ?? `${host}:${port}`
  const place: Destination = {
    key,
    host,
    port,
    connectTimeoutMs,
    keepalive,
    ...(unixPath === undefined ? {} : { unixPath }),
    ...(bounds === undefined ? {} : { bounds }),
  }
  const identity = tls === undefined ? systemTls(address) : configuredTls(address, tls)
  if (carries === 'bytes') return bytesDestinations(identity === undefined ? place : secure(place, identity, tls?.alpn))
  const decided = version ?? address.version
  return identity === undefined
    ? plainDestinations(place, decided)
    : securedDestinations(place, identity, tls?.alpn, decided)
}

/** What relayed bytes speak, nobody here knows. */
function bytesDestinations(usual: Destination): Destinations {
  return { usual, plaintextHttp2: usual, grpc: usual, upgrade: usual }
}

function plainDestinations(place: Destination, version: BackendHttpSpec['version']): Destinations {
  const http1: Destination = { ...place, http: 'http1' }
  const http2: Destination = { ...place, http: 'http2' }
  const usual = version === 'HTTP2' ? http2 : http1
  const derived = version === 'HTTP1' ? http1 : http2
  return { usual, plaintextHttp2: derived, grpc: derived, upgrade: http1 }
}

const H2 = 'h2'
const HTTP1 = 'http/1.1'

/** What is offered without `alpnProtocols`. */
const OFFERS = { HTTP1: [HTTP1], HTTP2: [H2], derived: [H2, HTTP1] } as const

/** Under TLS the server chooses; what is configured about the version, and gRPC, which has but one, narrow what is offered. */
function securedDestinations(
  place: Destination,
  identity: DestinationTls,
  alpn: readonly string[] | undefined,
  version: BackendHttpSpec['version'],
): Destinations {
  const offered = alpn ?? OFFERS[version ?? 'derived']
  const usual = offering(place, identity, offered)
  const withoutH2 = offered.filter((protocol) => protocol !== H2)
  return {
    usual,
    plaintextHttp2: usual,
    grpc: alpn === undefined && version === undefined ? offering(place, identity, OFFERS.HTTP2) : usual,
    upgrade:
      withoutH2.length === offered.length
        ? usual
        : offering(place, identity, withoutH2.length > 0 ? withoutH2 : [HTTP1]),
  }
}

function offering(place: Destination, identity: DestinationTls, alpn: readonly string[]): Destination {
  const http = !alpn.includes(H2) ? 'http1' : alpn.every((protocol) => protocol === H2) ? 'http2' : 'negotiated'
  return { ...secure(place, identity, alpn), http }
}

/** The key tells connections apart that must not be shared: other address, other TLS identity, other protocols. */
function secure(place: Destination, identity: DestinationTls, alpn: DestinationTls['alpn']): Destination {
  const tls = { ...identity, alpn }
  return { ...place, key: `${place.key} ${JSON.stringify(tls)}`, tls }
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
