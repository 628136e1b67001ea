import { expect, test } from 'vitest'
import type { Exchange } from '#exchange/exchange.ts'
import type { Destination, ProxyServer } from '#net/destination.ts'
import type { BackendHttpSpec } from '#policies/backend/http/schema.ts'
import type { BackendTlsSetting } from '#policies/backend/tls/compile.ts'
import type { KeyPair } from '#policies/shared/connection/key-pair.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import type { Address } from '#protocols/address.ts'
import { verifies } from '#test/support/verifies.ts'
import { chooseDestination, compileDestinations } from './destinations.ts'

type Version = BackendHttpSpec['version']

const ADDRESS: Address = {
  host: '192.0.2.1',
  port: 80,
  unixPath: undefined,
  section: undefined,
  hostname: 'a.test',
  tls: false,
  signing: undefined,
  ambient: undefined,
  target: undefined,
  version: undefined,
}
const TLS = {
  serverName: undefined,
  ca: undefined,
  cert: undefined,
  key: undefined,
  verify: 'full',
  subjectAltNames: undefined,
  alpn: undefined,
  groups: undefined,
  refusal: undefined,
} as const

interface Configured {
  readonly version?: Version
  readonly appProtocol?: Version
  readonly tls?: true | readonly string[]
}

function compile({ version, appProtocol, tls }: Configured, tunnel?: ProxyServer) {
  return compileDestinations(
    { address: { ...ADDRESS, version: appProtocol }, carries: 'requests' },
    {
      tcp: { connectTimeoutMs: 1000, keepalive: { retries: 9, timeMs: 1, intervalMs: 1 } },
      tls: tls === undefined ? undefined : { ...TLS, alpn: tls === true ? undefined : tls },
      client: undefined,
      version,
      tunnel,
    },
  )
}

verifies('backend.tcp/keepalive', 'keepalive of the policy holds at every destination', () => {
  const configurations: Configured[] = [{}, { tls: true }, { version: 'HTTP2' }]
  for (const configured of configurations) {
    const destinations = compile(configured)
    for (const request of REQUESTS) {
      const { keepalive } = chooseDestination(destinations, exchangeOf(request), '')
      expect(keepalive, request).toEqual({ retries: 9, timeMs: 1, intervalMs: 1 })
    }
  }
})

/** Kinds of requests: client version, TLS, gRPC, upgrade. */
const REQUESTS = ['1.1', '1.0', '2', '1.1 TLS', '2 TLS', '2 gRPC', '2 TLS gRPC', '1.1 gRPC', '1.1 upgrade'] as const

function exchangeOf(request: string): Exchange {
  const grpc = request.includes('gRPC')
  const headers: Record<string, string> = grpc ? { 'content-type': 'application/grpc+proto' } : {}
  const scheme = request.includes('TLS') ? 'https' : 'http'
  const exchange = exchangeWith({ method: grpc ? 'POST' : 'GET', scheme, headers })
  exchange.version = request.split(' ')[0] as Exchange['version']
  return exchange
}

function httpVersions(configured: Configured): Record<string, string> {
  const destinations = compile(configured)
  const show = ({ http, tls }: Destination) => (tls === undefined ? `${http}` : `${http} ${tls.alpn?.join()}`)
  return Object.fromEntries(
    REQUESTS.map((request) => {
      const upgrade = request.includes('upgrade') ? 'websocket' : ''
      return [request, show(chooseDestination(destinations, exchangeOf(request), upgrade))]
    }),
  )
}

function all(to: string, but: Partial<Record<(typeof REQUESTS)[number], string>> = {}): Record<string, string> {
  return { ...Object.fromEntries(REQUESTS.map((request) => [request, to])), ...but }
}

verifies('backend.http/version-unset-grpc', 'gRPC uses HTTP/2, for every client', () => {
  const chosen = httpVersions({})
  for (const request of ['2 gRPC', '2 TLS gRPC', '1.1 gRPC']) expect(chosen[request]).toBe('http2')
})

verifies('backend.http/version-unset-plaintext', 'a plaintext client keeps its version; 1.0 becomes 1.1', () => {
  const chosen = httpVersions({})
  expect([chosen['1.0'], chosen['1.1'], chosen['2']]).toEqual(['http1', 'http1', 'negotiated'])
})

verifies(
  'backend.http/version-unset-https',
  'requests of clients with TLS use HTTP/1.1, regardless of the version of the client',
  () => {
    const chosen = httpVersions({})
    expect([chosen['1.1 TLS'], chosen['2 TLS']]).toEqual(['http1', 'http1'])
  },
)

verifies(
  'backend.http/version-unset-app-protocol',
  'the appProtocol of the Service port applies to all requests',
  () => {
    expect(httpVersions({ appProtocol: 'HTTP1' })).toEqual(all('http1'))
    expect(httpVersions({ appProtocol: 'HTTP2' })).toEqual(all('http2', { '1.1 upgrade': 'http1' }))
  },
)

verifies('backend.http/version', 'the configured version takes precedence over the Service port', () => {
  expect(httpVersions({ version: 'HTTP1', appProtocol: 'HTTP2' })).toEqual(all('http1'))
  expect(httpVersions({ version: 'HTTP2', appProtocol: 'HTTP1' })).toEqual(all('http2', { '1.1 upgrade': 'http1' }))
})

const secured: [configured: Configured, expected: Record<string, string>][] = [
  [
    {},
    all('negotiated h2,http/1.1', {
      '2 gRPC': 'http2 h2',
      '2 TLS gRPC': 'http2 h2',
      '1.1 gRPC': 'http2 h2',
      '1.1 upgrade': 'http1 http/1.1',
    }),
  ],
  [{ version: 'HTTP1' }, all('http1 http/1.1')],
  [{ version: 'HTTP2' }, all('http2 h2', { '1.1 upgrade': 'http1 http/1.1' })],
  [{ appProtocol: 'HTTP2' }, all('http2 h2', { '1.1 upgrade': 'http1 http/1.1' })],
  [{ tls: ['http/1.1', 'h2'] }, all('negotiated http/1.1,h2', { '1.1 upgrade': 'http1 http/1.1' })],
  [{ tls: ['h2'], version: 'HTTP1' }, all('http2 h2', { '1.1 upgrade': 'http1 http/1.1' })],
  [{ tls: ['http/1.1'], version: 'HTTP2' }, all('http1 http/1.1')],
  [{ tls: ['other', 'h2'] }, all('negotiated other,h2', { '1.1 upgrade': 'http1 other' })],
]
test('gRPC calls of the gateway itself use HTTP/2, whatever is configured', () => {
  const versions = (configured: Configured) => {
    const { http, tls } = compile(configured).rpc
    return tls === undefined ? http : `${http} ${tls.alpn?.join()}`
  }
  for (const configured of [{}, { version: 'HTTP1' }, { appProtocol: 'HTTP1' }, { version: 'HTTP2' }] as const) {
    expect(versions(configured), JSON.stringify(configured)).toBe('http2')
    expect(versions({ ...configured, tls: true }), JSON.stringify(configured)).toBe('http2 h2')
  }
  expect(versions({ tls: ['http/1.1'] })).toBe('http2 h2')
})

test.each(secured)('for a TLS backend with %j, the handshake chooses the version', (configured, expected) => {
  expect(httpVersions({ tls: true, ...configured })).toEqual(expected)
})

verifies('backend.tls/alpnProtocols-default', 'h2 and http/1.1 are offered, in this order', () => {
  expect(compile({ tls: true }).usual.tls?.alpn).toEqual(['h2', 'http/1.1'])
})

test('connections with different ALPN offers are not shared', () => {
  const { usual, grpc, upgrade } = compile({ tls: true })
  expect(new Set([usual.key, grpc.key, upgrade.key]).size).toBe(3)
})

/** TLS settings of an address that uses TLS without a policy, such as that of an LLM provider. */
function tlsOf(address: Partial<Address>, tls?: Partial<BackendTlsSetting>, client?: KeyPair) {
  const settings = {
    tcp: { connectTimeoutMs: 1000, keepalive: { retries: 9, timeMs: 1, intervalMs: 1 } },
    tls: tls === undefined ? undefined : { ...TLS, ...tls },
    client,
    version: undefined,
    tunnel: undefined,
  }
  return compileDestinations({ address: { ...ADDRESS, tls: true, ...address }, carries: 'requests' }, settings).usual
    .tls
}

test('without a policy, the certificate of a provider must match its hostname and chain to a system CA', () => {
  const verified = { serverName: 'a.test', ca: undefined, cert: undefined, key: undefined, verify: 'full' }
  expect(tlsOf({})).toEqual({ ...verified, alpn: ['h2', 'http/1.1'] })
  expect(tlsOf({ tls: false })).toBeUndefined()
})

test('the client certificate of the Gateway is for TLS without another one', () => {
  const client = { cert: 'G-CERT', key: 'G-KEY' }
  expect(tlsOf({ tls: true }, undefined, client)).toMatchObject(client)
  expect(tlsOf({ tls: false }, {}, client)).toMatchObject(client)
  expect(tlsOf({ tls: true }, { cert: 'CERT', key: 'KEY' }, client)).toMatchObject({ cert: 'CERT', key: 'KEY' })
  expect(tlsOf({ tls: false }, undefined, client)).toBeUndefined()
})

test.each<[setting: Partial<BackendTlsSetting>, expected: object]>([
  [{}, { verify: 'full', serverName: 'a.test' }],
  [{ verify: 'chain-only' }, { verify: 'chain-only', serverName: 'a.test' }],
  [{ verify: 'none' }, { verify: 'none', serverName: 'a.test' }],
  [{ serverName: 'sni.test' }, { verify: 'full', serverName: 'sni.test' }],
  [
    { ca: 'CA', cert: 'CERT', key: 'KEY' },
    { verify: 'full', ca: 'CA', cert: 'CERT', key: 'KEY' },
  ],
  [
    { subjectAltNames: ['x'], groups: 'P-256' },
    { verify: 'full', subjectAltNames: ['x'], groups: 'P-256' },
  ],
])('a policy configures the verification of the certificate: %j', (setting, expected) => {
  for (const tls of [true, false]) expect(tlsOf({ tls }, setting)).toMatchObject(expected)
})

test('through a proxy server: absolute form for plain HTTP/1.1 without upgrade, else CONNECT', () => {
  const proxies = [{ key: '192.0.2.1:3128', host: '192.0.2.1', port: 3128, connectTimeoutMs: 1000 }]
  const tunnel = { proxies, authorization: 'Basic x' }
  const modes = (configured: Configured) => {
    const { usual, plaintextHttp2, grpc, rpc, upgrade } = compile(configured, tunnel)
    return [usual, plaintextHttp2, grpc, rpc, upgrade].map((destination) => destination.tunnel?.mode)
  }
  expect(modes({})).toEqual(['forward', 'connect', 'connect', 'connect', 'connect'])
  expect(modes({ version: 'HTTP1' })).toEqual(['forward', 'forward', 'forward', 'connect', 'connect'])
  expect(modes({ version: 'HTTP2' })).toEqual(['connect', 'connect', 'connect', 'connect', 'connect'])
  expect(modes({ tls: true })).toEqual(['connect', 'connect', 'connect', 'connect', 'connect'])
})

test('connections through a proxy server are not shared with others', () => {
  const proxies = [{ key: '192.0.2.1:3128', host: '192.0.2.1', port: 3128, connectTimeoutMs: 1000 }]
  const keys = [undefined, { proxies, authorization: 'a' }, { proxies, authorization: 'b' }].flatMap((tunnel) => {
    const { usual, upgrade } = compile({}, tunnel)
    return tunnel === undefined ? [usual.key] : [usual.key, upgrade.key]
  })
  expect(new Set(keys).size).toBe(5)
})

const POD = { namespace: 'shop', name: 'cart-1', serviceAccount: 'cart' }
const IDENTITY = 'spiffe://cluster.local/ns/shop/sa/cart'

function meshDestinations(use: { pod?: boolean; trustDomain?: string | undefined; tls?: true; tunnel?: ProxyServer }) {
  const { pod, trustDomain, tls, tunnel } = { pod: true, trustDomain: 'cluster.local', ...use }
  return compileDestinations(
    { address: { ...ADDRESS, ...(pod && { meshPod: POD }) }, carries: 'requests', trustDomain },
    {
      tcp: { connectTimeoutMs: 1000, keepalive: { retries: 9, timeMs: 1, intervalMs: 1 } },
      tls: tls && TLS,
      client: undefined,
      version: undefined,
      tunnel,
    },
  )
}

test('a pod of the mesh is reached through its tunnel in every version of HTTP, with TLS inside it', () => {
  const tunnel = { mode: 'mesh', port: 15008, identity: IDENTITY }
  for (const destinations of [meshDestinations({}), meshDestinations({ tls: true })]) {
    expect(Object.values(destinations).map(({ tunnel }) => tunnel)).toEqual(Array(5).fill(tunnel))
  }
  expect(meshDestinations({}).plaintextHttp2.http1!.tunnel).toEqual(tunnel)
  expect(meshDestinations({}).usual.tls).toBeUndefined()
  expect(meshDestinations({ tls: true }).usual).toMatchObject({ tls: { verify: 'full' } })
})

test('connections to pods with different identities, and to others, are not shared', () => {
  const keys = [
    meshDestinations({}),
    meshDestinations({ trustDomain: 'other.domain' }),
    meshDestinations({ pod: false }),
  ].map(({ usual }) => usual.key)
  expect(new Set(keys).size).toBe(3)
})

test('other addresses, and all of a gateway in no mesh, are reached without a tunnel', () => {
  expect(meshDestinations({ pod: false }).usual.tunnel).toBeUndefined()
  expect(meshDestinations({ trustDomain: undefined }).usual.tunnel).toBeUndefined()
})

test('a pod behind a proxy server is reached through the proxy server, which may be in a pod itself', () => {
  const proxy = meshDestinations({}).usual
  const { usual, grpc } = meshDestinations({ tunnel: { proxies: [proxy], authorization: undefined } })
  expect(usual.tunnel).toMatchObject({ mode: 'forward', proxies: [{ tunnel: { mode: 'mesh', identity: IDENTITY } }] })
  expect(grpc.tunnel).toMatchObject({ mode: 'connect', proxies: [{ tunnel: { mode: 'mesh' } }] })
})
