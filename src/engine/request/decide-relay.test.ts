import { expect, test } from 'vitest'
import type { ListenerItem, PlanItem } from '#plan/item.ts'
import type { LiveRelayListener } from '../route/live-listener.ts'
import { backendItem, draws, listenerItem, livePlan, policyItem, relayRouteItem, toBackend } from '../testing.ts'
import { decideRelay } from './decide-relay.ts'

const LISTENER = listenerItem({ protocol: 'TLS', tlsMode: 'Passthrough' })

function decideFor(items: readonly PlanItem[], serverName = '', random = () => 0) {
  const { plan, socket } = livePlan(...items)
  const listener = socket.serverNames.first('', (listener) => listener) as LiveRelayListener
  return decideRelay({ index: plan.index, random }, listener, serverName)
}

const TIERS = [
  relayRouteItem('any', []),
  relayRouteItem('wide', ['*.example.com']),
  relayRouteItem('narrow', ['*.db.example.com']),
  relayRouteItem('exact', ['one.db.example.com', 'other.test']),
]

for (const [serverName, route] of [
  ['one.db.example.com', 'exact'],
  ['other.test', 'exact'],
  ['two.db.example.com', 'narrow'],
  ['a.two.db.example.com', 'narrow'],
  ['web.example.com', 'wide'],
  ['example.com', 'any'],
  ['', 'any'],
] as const) {
  test(`server name "${serverName}" goes to the route ${route}`, () => {
    expect(decideFor([LISTENER, backendItem('b'), ...TIERS], serverName).rule?.item.route.name).toBe(route)
  })
}

test('of several rules for one name, the oldest route is used, then namespace/name, then the first rule', () => {
  const routes = [
    relayRouteItem('a', ['x.test'], { created: '2026-01-02T00:00:00Z' }),
    relayRouteItem('c', ['x.test'], { created: '2026-01-01T00:00:00Z', rule: 1 }),
    relayRouteItem('c', ['x.test'], { created: '2026-01-01T00:00:00Z' }),
    relayRouteItem('d', ['x.test'], { created: '2026-01-01T00:00:00Z' }),
  ]
  expect(decideFor([LISTENER, backendItem('b'), ...routes], 'x.test').rule?.item.key).toBe('TLSRoute/default/c/0')
})

test('the plan names include listener, route and backend', () => {
  const { names } = decideFor([LISTENER, backendItem('b'), relayRouteItem('r', [], { ruleName: 'first' })])
  expect(names).toMatchObject({
    gateway: 'default/main',
    listener: 'http',
    route: 'default/r',
    routeKind: 'TLSRoute',
    rule: 'first',
    backend: 'default/b',
    protocol: 'tcp',
  })
})

test('backends are chosen by weight', () => {
  const weighted = toBackend('b', 'c').map((reference, i) => ({ ...reference, weight: [3, 1][i]! }))
  const items = [LISTENER, backendItem('b'), backendItem('c'), relayRouteItem('r', [], { backends: weighted })]
  const chosen = (draw: number) => decideFor(items, '', draws(draw, 0, 0)).backend?.item.name
  expect([0, 0.74, 0.75, 0.99].map(chosen)).toEqual(['b', 'b', 'c', 'c'])
})

const ENDPOINTS: PlanItem = {
  kind: 'endpoints',
  key: 'Endpoints/default/db/5432',
  addresses: [],
  origin: { kind: 'Service', namespace: 'default', name: 'db' },
}
const SERVICE = backendItem('db', {
  key: 'Service/default/db/5432',
  type: 'service',
  spec: { hostname: 'db.default', port: 5432 },
})

for (const [what, items, code] of [
  ['no route', [], 'route-not-found'],
  ['no backend', [relayRouteItem('r', [], { backends: [] })], 'no-valid-backends'],
  [
    'a weight of 0',
    [relayRouteItem('r', [], { backends: [{ ...toBackend('b')[0]!, weight: 0 }] })],
    'no-valid-backends',
  ],
  [
    'a broken reference',
    [relayRouteItem('r', [], { backends: [{ ...toBackend('b')[0]!, backend: undefined }] })],
    'backend-missing',
  ],
  ['a backend that does not exist', [relayRouteItem('r', [])], 'backend-missing'],
  ['a broken backend', [relayRouteItem('r', []), backendItem('b', { broken: 'why' })], 'backend-invalid'],
  [
    'a backend with prompt guards',
    [
      relayRouteItem('r', []),
      backendItem('b', { type: 'ai', spec: { provider: { providerOne: {} } } }),
      policyItem('backend.ai', 'ProxyBackend/default/b', {
        promptGuard: { request: [{ regex: { action: 'Mask', builtins: ['Email'] } }] },
      }),
    ],
    'backend-invalid',
  ],
  [
    'a Service without endpoints',
    [relayRouteItem('r', [], { backends: [{ ...toBackend('b')[0]!, backend: SERVICE.key }] }), SERVICE, ENDPOINTS],
    'no-healthy-backends',
  ],
] as const satisfies readonly (readonly [string, readonly PlanItem[], string])[]) {
  test(`${what}: the connection is closed`, () => {
    const { refusal, endpoint } = decideFor([LISTENER, ...items])
    expect(refusal?.code).toBe(code)
    expect(endpoint).toBeUndefined()
  })
}

test('a backend with extAuth refuses connections: external authorization needs a request', () => {
  const extAuth = policyItem('backend.extAuth', 'ProxyBackend/default/b', {
    backendRef: { group: '', kind: 'Service', name: 'authz', port: 80 },
    grpc: {},
  })
  const { refusal } = decideFor([LISTENER, backendItem('b'), relayRouteItem('r', []), extAuth])
  expect(refusal).toMatchObject({
    code: 'policy-invalid',
    detail: 'backend.extAuth does not support connections',
  })
})

test('TLS towards the backend has no ALPN offer unless the policy sets one: the protocol of the bytes is unknown', () => {
  const tls = (spec: object) => policyItem('backend.tls', 'ProxyBackend/default/b', spec)
  const alpnWith = (spec: object) =>
    decideFor([LISTENER, backendItem('b'), relayRouteItem('r', []), tls(spec)]).place?.destinations.usual.tls?.alpn
  expect(alpnWith({})).toBeUndefined()
  expect(alpnWith({ alpnProtocols: ['postgresql'] })).toEqual(['postgresql'])
})

test('request and relay listeners share a socket; a server name selects either, a host only a request listener', () => {
  const https: ListenerItem = listenerItem({
    name: 'https',
    protocol: 'HTTPS',
    tlsMode: 'Terminate',
    hostname: '*.example.com',
  })
  const through: ListenerItem = listenerItem({
    name: 'through',
    protocol: 'TLS',
    tlsMode: 'Passthrough',
    hostname: 'db.example.com',
  })
  const { socket } = livePlan(https, through)
  const named = (name: string) => socket.serverNames.first(name, (listener) => listener)?.item.name
  expect([named('web.example.com'), named('db.example.com'), named('other.test')]).toEqual([
    'https',
    'through',
    undefined,
  ])
  expect([...socket.hosts.values()].map(({ item }) => item.name)).toEqual(['https'])
})
