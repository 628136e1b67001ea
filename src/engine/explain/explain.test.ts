import { expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import type { CallRequest } from '#exchange/call.ts'
import { refusalStatus, refusalText } from '#exchange/outcome.ts'
import type { MeshDomains, PlanItem } from '#plan/item.ts'
import { type ExchangeInputs, exchangeWith } from '#policies/shared/testing.ts'
import { fakeServer } from '#test/support/fake-authorization-server.ts'
import { createSigningKey, signToken } from '#test/support/token-issuer.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import {
  backendItem,
  exchangeReading,
  type FieldName,
  listenerItem,
  livePlan,
  matchOf,
  policyItem,
  routeItem,
  rules,
  toBackend,
} from '../testing.ts'
import { type Explanation, explainRequest } from './explain.ts'

const GATEWAY = 'Gateway/default/main'
const ROUTE = 'HTTPRoute/default/r'
const BACKEND = 'ProxyBackend/default/b'

const R = routeItem('r', { matches: [matchOf('prefix /api')], backends: toBackend('b', 'c') })
const NEAR = routeItem('near', { matches: [matchOf('PUT prefix /api/x')] })
const PLAN = [listenerItem(), R, NEAR, backendItem('b'), backendItem('c')]

function explained(
  items: readonly PlanItem[],
  inputs: ExchangeInputs = { target: '/api/x?q=1' },
): Promise<Explanation> {
  return explainRequest({ nowMs: 0, ...livePlan(...items) }, exchangeWith(inputs))
}

test('a request that would be forwarded: listener and rule, chosen backend and endpoint, bytes', async () => {
  const explanation = await explained(PLAN)
  expect(explanation.path).toEqual({ received: '/api/x', matched: '/api/x' })
  expect(explanation.listener?.name).toBe('http')
  expect(explanation.route).toEqual({ item: R, match: R.matches[0] })
  expect(explanation.backends).toEqual([
    { key: BACKEND, weight: 1, chosen: true },
    { key: 'ProxyBackend/default/c', weight: 1, chosen: false },
  ])
  expect(explanation.endpoints).toEqual([{ label: '127.0.0.1:9000', section: undefined, priority: 0, chosen: true }])
  expect(explanation.outcome).toBeUndefined()
  expect(explanation.upstream).toBe('GET /api/x?q=1 HTTP/1.1\r\nhost: example.com\r\n\r\n')
  expect(explanation.protocol).toBeUndefined()
})

test('a request that an LLM backend refuses, or handles, as a chat completion because routes is unset', async () => {
  const misread = '/responses is handled as a chat completion, because backend.ai.routes is unset'
  const backend = (provider: 'providerOne' | 'providerFour') =>
    backendItem('b', { type: 'ai', spec: { provider: { [provider]: {}, host: 'llm.test', port: 80 } } })
  const asked = (item: PlanItem) => {
    const { exchange } = exchangeReading({ method: 'POST', target: '/api/responses' }, '{"model":"m","input":"hi"}')
    return explainRequest({ nowMs: 0, ...livePlan(listenerItem(), R, item, backendItem('c')) }, exchange)
  }
  const sent = await asked(backend('providerOne'))
  expect(sent.upstream).toContain('POST /v1/chat/completions')
  expect(sent.protocol?.lines.join()).toContain(misread)
  const refused = await asked(backend('providerFour'))
  expect(refused.outcome).toMatchObject({ kind: 'refusal', code: 'llm-body-invalid' })
  expect(refused.protocol?.lines.join()).toContain(misread)
})

test('a policy of the backend reads the body', async () => {
  const set = [{ name: 'x-size', value: 'string(size(request.body))' }]
  const policy = policyItem('backend.transformation', BACKEND, { request: { set } })
  const { exchange } = exchangeReading({ method: 'POST', target: '/api' }, 'hello')
  const { upstream } = await explainRequest({ nowMs: 0, ...livePlan(...PLAN, policy) }, exchange)
  expect(upstream).toContain('\r\nx-size: 5\r\n')
})

test.each([
  [{}, 'http1'],
  [{ 'backend.http': { version: 'HTTP2' } }, 'http2'],
  [{ 'backend.tls': {} }, 'negotiated'],
] as const)('the HTTP version towards the backend with %j', async (policies, upstreamHttp) => {
  const items = Object.entries(policies).map(([field, spec]) => policyItem(field as FieldName, BACKEND, spec))
  expect((await explained([...PLAN, ...items])).upstreamHttp).toBe(upstreamHttp)
})

test('near misses show why another rule does not match', async () => {
  const { nearMisses } = await explained(PLAN)
  expect(nearMisses.filter(({ item }) => item === NEAR)).toMatchObject([
    { why: 'method GET is not PUT', pathMatches: true },
  ])
})

test('without a route for the host, hosts that have routes', async () => {
  const r = routeItem('other', {
    attachments: [{ listener: 'Listener/default/main/http', hostnames: ['b.example', '*.a.example'] }],
  })
  expect((await explained([listenerItem(), r])).otherHostnames).toEqual(['*.a.example', 'b.example'])
  expect((await explained([...PLAN, r])).otherHostnames).toEqual([])
})

test('policies in force with those they override, in the order traffic, backend, frontend', async () => {
  const { policies } = await explained([
    ...PLAN,
    policyItem('frontend.http', GATEWAY, {}),
    policyItem('backend.tcp', GATEWAY, { connectTimeout: '1s' }, { policy: 'weak' }),
    policyItem('backend.tcp', BACKEND, { connectTimeout: '2s' }, { policy: 'strong' }),
    policyItem('PreRouting.transformation', GATEWAY, {}),
    policyItem('traffic.csrf', ROUTE, {}, { policy: 'strong' }),
    policyItem('traffic.csrf', GATEWAY, {}, { policy: 'weak' }),
    policyItem('traffic.csrf', 'HTTPRoute/default/near', {}),
  ])
  const names = (list: readonly { origin: { name: string } }[]) => list.map(({ origin }) => origin.name).join(' ')
  expect(
    policies.map(({ section, phase, field, sources, overridden }) =>
      [section, phase, field, names(sources), names(overridden)].join(','),
    ),
  ).toEqual([
    'traffic,PreRouting,transformation,policy,',
    'traffic,PostRouting,csrf,strong,weak',
    'backend,,tcp,strong,weak',
    'frontend,,http,policy,',
  ])
})

const failing = (name: string) =>
  `its condition fails: no such key: request.headers.${name} (column 1)\nrequest.headers["${name}"] == "1"\n^`

test.each([
  ['the first entry', { 'x-v': '1' }, ['conditional[0] applies']],
  [
    'another entry',
    { 'x-v': '2', 'x-w': '1' },
    ['conditional[1] applies', 'not conditional[0]: its condition is not true'],
  ],
  [
    'no entry',
    {},
    [
      'no entry of conditional applies',
      `not conditional[0]: ${failing('x-v')}`,
      `not conditional[1]: ${failing('x-w')}`,
    ],
  ],
])('a conditional policy: %s applies', async (_, headers, notes) => {
  const conditional = ['x-v', 'x-w'].map((name) => ({ condition: `request.headers["${name}"] == "1"`, policy: {} }))
  const { steps } = await explained(
    [...PLAN, policyItem('traffic.transformation', ROUTE, { conditional }), policyItem('traffic.csrf', ROUTE, {})],
    { target: '/api', headers },
  )
  expect(steps.map((step) => [step.name, step.notes])).toEqual([
    ['transformation', notes],
    ['csrf', undefined],
  ])
})

test('copies for mirrors; a backend with prompt guards gets none', async () => {
  const llm = backendItem('llm', { type: 'ai', spec: { provider: { providerOne: {} } } })
  const mirrors = [llm.key, BACKEND].map((backend) => ({ backend, numerator: 10, denominator: 100, path: '' }))
  const items = [...PLAN, llm, policyItem('traffic.requestMirror', ROUTE, mirrors)]
  const notesOf = async (...more: readonly PlanItem[]) =>
    (await explained([...items, ...more])).steps.flatMap(({ notes }) => notes)
  const toBackend = 'copies 10 of 100 requests to default/b'
  expect(await notesOf()).toEqual(['copies 10 of 100 requests to default/llm', toBackend])
  const guards = { promptGuard: { request: [{ regex: { builtins: ['Email'] } }] } }
  expect(await notesOf(policyItem('backend.ai', llm.key, guards))).toEqual([
    'copies no request to default/llm: no prompt guard of it would check the copy (mirror-guarded)',
    toBackend,
  ])
})

test('a policy without conditions has no note about them', async () => {
  const policy = policyItem('traffic.rateLimit', ROUTE, { local: [{ requests: 1, unit: 'Hours' }] })
  const { steps } = await explained([...PLAN, policy])
  expect(steps.map(({ notes }) => notes)).toEqual([undefined])
})

test('a Deny rule that does not deny because its evaluation fails', async () => {
  const rule = policyItem('traffic.authorization', ROUTE, rules('Deny', 'request.headers["x-v"] == "1"', 'false'))
  const { steps, outcome } = await explained([...PLAN, rule])
  expect(outcome).toBeUndefined()
  const why = 'no such key: request.headers.x-v (column 1)\nrequest.headers["x-v"] == "1"\n^'
  expect(steps.map(({ notes }) => notes)).toEqual([
    [
      `Deny rule spec.traffic.authorization.policy.matchExpressions[0] of ProxyPolicy default/policy does not match, because it failed: ${why}`,
    ],
  ])
})

test('a Deny rule that does not compile denies, and is not said not to match', async () => {
  const rule = policyItem('traffic.authorization', ROUTE, rules('Deny', 'request.headers[', 'false'))
  const { steps, outcome } = await explained([...PLAN, rule])
  const detail =
    'Deny rule spec.traffic.authorization.policy.matchExpressions[0] of ProxyPolicy default/policy failed: the expression does not compile'
  expect(outcome).toMatchObject({ code: 'authorization-denied', detail })
  expect(steps.map(({ verdict, notes }) => [verdict, notes])).toEqual([['refuse', undefined]])
})

test('a refusal: the steps up to it, and nothing is sent', async () => {
  const { outcome, steps, upstream, endpoints } = await explained([
    ...PLAN,
    policyItem('PreRouting.authorization', GATEWAY, rules('Deny', 'false')),
    policyItem('traffic.authorization', ROUTE, rules('Deny', 'true')),
    policyItem('traffic.csrf', ROUTE, {}),
  ])
  expect(outcome).toMatchObject({ code: 'authorization-denied' })
  expect(steps.map(({ stage, name, verdict }) => [stage, name, verdict])).toEqual([
    ['pre-routing', 'authorization', 'proceed'],
    ['post-routing', 'authorization', 'refuse'],
  ])
  expect(upstream).toBeUndefined()
  expect(endpoints).toEqual([])
})

test('without a listener or a route, the report has neither', async () => {
  const { listener, route, policies, outcome } = await explained([listenerItem({ hostname: 'a.test' })])
  expect({ listener, route, policies }).toEqual({ listener: undefined, route: undefined, policies: [] })
  expect(outcome).toMatchObject({ code: 'listener-not-found' })
  const missed = await explained([listenerItem(), policyItem('frontend.http', GATEWAY, {})])
  expect(missed.outcome).toMatchObject({ code: 'route-not-found' })
  expect(missed.policies.map(({ field }) => field)).toEqual(['http'])
})

test('the eviction of an endpoint', async () => {
  const health = policyItem('backend.health', BACKEND, { eviction: { duration: '2s', restoreHealth: 50 } })
  const { endpoints } = await explained([...PLAN, health])
  expect(endpoints[0]!.eviction).toEqual({
    durationMs: 2000,
    restoreHealth: 0.5,
    consecutiveFailures: undefined,
    healthThreshold: undefined,
  })
})

test('a Service without endpoints: refused as the proxy would, and nothing is sent', async () => {
  const service = backendItem('svc', {
    key: 'Service/default/svc/80',
    type: 'service',
    spec: { hostname: 'svc.default.svc', port: 80 },
  })
  const route = routeItem('r', { backends: [{ backend: service.key, weight: 1, path: '' }] })
  const { outcome, upstream, endpoints } = await explained([listenerItem(), service, route])
  expect(outcome).toMatchObject({ code: 'no-healthy-backends' })
  expect({ upstream, endpoints }).toEqual({ upstream: undefined, endpoints: [] })
})

test('a configured answer is shown as response policies change it, like the one that a client gets', async () => {
  const answer = policyItem('traffic.directResponse', ROUTE, { status: 200, body: '{"n":1}' })
  const transform = (response: object) => policyItem('traffic.transformation', ROUTE, { response })
  const changes = { set: [{ name: ':status', value: '203' }], body: 'string(json(response.body).n)' }
  const { outcome, grpc } = await explained([...PLAN, answer, transform(changes)])
  expect(outcome?.kind === 'answer' && [outcome.head.status, Buffer.from(outcome.body ?? '').toString()]).toEqual([
    203,
    '1',
  ])
  expect(grpc).toBe(false)
  const failing = await explained([...PLAN, answer, transform({ body: 'json(response.body).none' })])
  expect(failing.outcome).toMatchObject({ kind: 'refusal', code: 'transformation-response-failed' })
})

test('a body that a policy reads is part of the forwarded bytes', async () => {
  const reads = policyItem('traffic.authorization', ROUTE, rules('Require', 'size(request.body) > 0'))
  const { exchange } = exchangeReading({ method: 'POST', target: '/api', headers: { 'content-length': '5' } }, 'hello')
  const { upstream } = await explainRequest({ nowMs: 0, ...livePlan(...PLAN, reads) }, exchange)
  expect(upstream).toBe('POST /api HTTP/1.1\r\nhost: example.com\r\ncontent-length: 5\r\n\r\nhello')
})

test('a body above the limit is refused with the limit and its field', async () => {
  const reads = policyItem('traffic.authorization', ROUTE, rules('Require', 'size(request.body) > 0'))
  const bounds = policyItem('frontend.http', GATEWAY, { maxBufferSize: 4 })
  const { exchange } = exchangeReading({ method: 'POST', target: '/api', headers: { 'content-length': '5' } }, 'hello')
  const { outcome } = await explainRequest({ nowMs: 0, ...livePlan(...PLAN, reads, bounds) }, exchange)
  if (outcome?.kind !== 'refusal') throw new Error('nothing refuses')
  expect([outcome.code, refusalStatus(outcome), refusalText(outcome)]).toEqual([
    'body-too-large',
    413,
    'request body too large: the limit is 4 bytes (frontend.http.maxBufferSize)',
  ])
})

test('a protocol that serves requests reads the body as in a proxy, up to the limit', async () => {
  const spec = { targets: [{ name: 'a', host: 'a.test', port: 80 }] }
  const tools = backendItem('b', { type: 'mcp', spec })
  const route = routeItem('r', { backends: toBackend('b') })
  const headers = { host: 'localhost', 'content-type': 'application/json' }
  const explainTools = (...items: readonly PlanItem[]) => {
    const { exchange } = exchangeReading(
      { method: 'POST', target: '/mcp', headers },
      '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    )
    return explainRequest({ nowMs: 0, ...livePlan(listenerItem(), route, tools, ...items) }, exchange)
  }
  expect((await explainTools()).protocol?.lines).toEqual([
    'MCP, terminated at the gateway',
    '  ping: answered by the gateway',
  ])
  const bounds = policyItem('frontend.http', GATEWAY, { maxBufferSize: 4 })
  expect((await explainTools(bounds)).outcome).toMatchObject({ kind: 'refusal', code: 'body-too-large' })
})

test('an A2A call in a body that no policy reads has its method', async () => {
  const agent = backendItem('b', { type: 'a2a', spec: { host: 'agent.test', port: 9000 } })
  const route = routeItem('r', { backends: toBackend('b') })
  const call = '{"jsonrpc":"2.0","id":1,"method":"SendMessage"}'
  const { exchange } = exchangeReading({ method: 'POST', headers: { 'content-type': 'application/json' } }, call)
  const { protocol } = await explainRequest({ nowMs: 0, ...livePlan(listenerItem(), route, agent) }, exchange)
  expect(protocol?.lines).toEqual(['A2A call, method SendMessage'])
})

test('the same request has the same result, also for a backend with several endpoints', async () => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => explained(PLAN)))
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
})

test('an agent card shows its rewritten URL', async () => {
  const agent = backendItem('b', { type: 'a2a', spec: { host: 'agent.test', port: 9000 } })
  const route = routeItem('r', { backends: toBackend('b') })
  const { protocol, upstream } = await explained([listenerItem(), route, agent], {
    target: '/.well-known/agent-card.json',
  })
  expect(protocol?.lines).toEqual(['A2A agent card; the base URL of the card becomes http://example.com'])
  expect(upstream).toContain('host: agent.test\r\n')
})

test('the Pod of a client is found by address, as in the proxy', async () => {
  const origin = { kind: 'Pod', namespace: 'shop', name: 'cart-1' }
  const pod: PlanItem = {
    kind: 'workload',
    key: 'Workload/shop/cart-1',
    namespace: 'shop',
    name: 'cart-1',
    serviceAccount: 'cart',
    addresses: ['192.0.2.7'],
    origin,
  }
  const rules = policyItem('PreRouting.authorization', GATEWAY, {
    action: 'Require',
    policy: { matchExpressions: ['source.unverifiedWorkload.serviceAccount == "cart"'] },
  })
  expect((await explained([...PLAN, rules, pod])).outcome).toBeUndefined()
  expect((await explained([...PLAN, rules])).outcome).toMatchObject({ kind: 'refusal', code: 'authorization-denied' })
})

test('a path is shown as received and as matched', async () => {
  const { path, route, upstream } = await explained(PLAN, { target: '//%61pi//x%20y?q=%61' })
  expect(path).toEqual({ received: '//%61pi//x%20y', matched: '/api/x%20y' })
  expect(route?.item).toBe(R)
  expect(upstream).toMatch('GET //api//x%20y?q=%61 HTTP/1.1')
})

test('no key set is fetched: the step describes what a gateway would do', async () => {
  const remote = {
    jwksPath: '/keys',
    cacheDuration: '5m',
    backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'b' },
  }
  const providers = [{ issuer: 'https://id.test', jwks: { remote } }]
  const policy = policyItem('traffic.jwtAuthentication', ROUTE, { mode: 'Strict', providers })
  const key = createSigningKey('P-256')
  const token = signToken(key, 'ES256', { iss: 'https://id.test', exp: 60 })
  const { steps, outcome } = await explained([...PLAN, policy], {
    target: '/api/x',
    headers: { authorization: `Bearer ${token}` },
  })
  const detail = 'without --call, the key set of the issuer is not fetched (GET /keys of ProxyBackend/default/b)'
  expect(steps).toMatchObject([{ name: 'jwtAuthentication', verdict: 'refuse', detail }])
  expect(outcome).toMatchObject({ kind: 'refusal', code: 'jwt-keys-unavailable' })
})

const ASKS = policyItem('traffic.extAuth', ROUTE, {
  backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'c' },
  http: { addRequestHeaders: { 'x-copy': 'request.headers["x-api-key"]', 'x-plain': '"1"' } },
})

test('without calls a question is shown, and counts as allowed', async () => {
  const inputs = { target: '/api/x', headers: { 'x-api-key': 'k3y' } }
  const { callouts, outcome } = await explained([...PLAN, ASKS], inputs)
  expect(outcome).toBeUndefined()
  expect(callouts).toEqual([
    {
      policy: 'extAuth',
      backend: 'default/c',
      question: {
        protocol: 'http',
        message: 'GET /api/x HTTP/1.1\r\nx-copy: k3y\r\nx-plain: 1\r\n\r\n',
        credentials: [{ kind: 'header', name: 'x-copy' }],
      },
      sent: false,
      answer: undefined,
    },
  ])
})

test('without calls a server that does not exist refuses as in a proxy', async () => {
  const asks = policyItem('traffic.extAuth', ROUTE, {
    backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'none' },
    http: {},
  })
  const { callouts, outcome, upstream } = await explained([...PLAN, asks], { target: '/api/x' })
  const detail = 'no-endpoint: the backend does not exist'
  expect(outcome).toMatchObject({ code: 'ext-auth-denied', detail: `authorization server default/none: ${detail}` })
  expect(callouts).toMatchObject([{ sent: false, answer: { verdict: 'failed', detail } }])
  expect(upstream).toBeUndefined()
})

test('with calls the servers decide', async () => {
  const { call, destinations } = fakeServer(() => ({ status: 401, body: 'who?' }))
  const inputs = { nowMs: 0, ...livePlan(...PLAN, ASKS), calls: { ofRequest: () => call } }
  const { callouts, outcome, upstream } = await explainRequest(inputs, exchangeWith({ target: '/api/x' }))
  expect(destinations).toEqual(['ProxyBackend/default/c'])
  expect(callouts).toMatchObject([
    {
      sent: true,
      answer: { verdict: 'denied', detail: 'the authorization server answered 401', durationMs: expect.any(Number) },
    },
  ])
  expect(outcome).toMatchObject({ code: 'ext-auth-denied', status: 401 })
  expect(upstream).toBeUndefined()
})

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7'
const samplings: readonly (readonly [settings: object, parent: string | undefined, detail: string])[] = [
  [{}, undefined, 'not traced: randomSampling is unset, or cannot be evaluated'],
  [{ randomSampling: '0.1' }, undefined, 'traced: randomSampling traces 10% of the requests'],
  [{ randomSampling: '1' }, undefined, 'traced: randomSampling is 1'],
  [{ randomSampling: '0' }, undefined, 'not traced: randomSampling is 0'],
  [{ randomSampling: 'request.path == "/api/x"' }, undefined, 'traced: randomSampling is true'],
  [{ randomSampling: 'request.path' }, undefined, 'not traced: randomSampling is "/api/x"'],
  [{}, `${PARENT}-01`, 'traced: traceparent is sampled'],
  [{}, `${PARENT}-00`, 'not traced: traceparent is not sampled'],
  [{ clientSampling: '0.25' }, `${PARENT}-00`, 'traced: clientSampling traces 25% of the traces, by their id'],
  [{ clientSampling: '0.01' }, `${PARENT}-01`, 'not traced: clientSampling traces 1% of the traces, by their id'],
]

for (const [settings, parent, detail] of samplings) {
  test(`with ${JSON.stringify(settings)} and ${parent ?? 'no trace'}, a request is ${detail}`, async () => {
    const backendRef = { name: 'collector', port: 4317 }
    const tracing = policyItem('frontend.tracing', GATEWAY, { backendRef, ...settings })
    const headers = parent === undefined ? {} : { traceparent: parent }
    const { steps } = await explained([...PLAN, tracing], { target: '/api/x', headers })
    expect(steps.find(({ name }) => name === 'tracing')?.detail).toBe(detail)
  })
}

test('the explanation of the same request at the same time is the same, regardless of the time and random values that expressions read', async () => {
  const set = [
    { name: 'x-random', value: 'string(random())' },
    { name: 'x-uuid', value: 'uuid()' },
    { name: 'x-start', value: 'string(request.startTime)' },
  ]
  const items = [
    ...PLAN,
    policyItem('traffic.transformation', ROUTE, { request: { set } }),
    policyItem('backend.transformation', BACKEND, {
      request: { set: [{ name: 'x-late', value: 'string(random())' }] },
    }),
  ]
  using time = new VirtualTime()
  const explain = async () => {
    const exchange = exchangeWith({ target: '/api/x' })
    exchange.startMonotonicMs = clock.monotonic()
    return explainRequest({ nowMs: 86_400_000, ...livePlan(...items) }, exchange)
  }
  const first = await explain()
  await time.pass(1234)
  expect(JSON.stringify(await explain())).toBe(JSON.stringify(first))
  expect(first.upstream).toBe(
    'GET /api/x HTTP/1.1\r\nhost: example.com\r\nx-random: 0\r\nx-uuid: 00000000-0000-4000-8000-000000000000\r\n' +
      'x-start: 1970-01-02T00:00:00Z\r\nx-late: 0\r\n\r\n',
  )
})

test('the clock is fixed, random numbers are constant, and no calls are made', async () => {
  const exchange = exchangeWith({ target: '/api/x' })
  await explainRequest({ nowMs: 86_400_000, ...livePlan(...PLAN) }, exchange)
  expect([exchange.context.now(), exchange.context.random()]).toEqual([86_400_000, 0])
  await expect(exchange.context.call('ProxyBackend/default/c', {} as CallRequest)).rejects.toThrow('not-made')
})

test('an endpoint in a pod of the mesh, while a Gateway has `mesh`', async () => {
  const origin = { kind: 'Gateway', namespace: 'default', name: 'main' }
  const gateway = (mesh: MeshDomains | undefined): PlanItem => {
    const head = {
      kind: 'gateway',
      key: GATEWAY,
      namespace: 'default',
      name: 'main',
      shutdown: undefined,
      origin,
    } as const
    return mesh === undefined ? head : { ...head, mesh }
  }
  const mesh = { trustDomain: 'own.domain', additionalTrustDomains: [] }
  const meshPod = { namespace: 'shop', name: 'cart-1', serviceAccount: 'cart' }
  const items = [
    listenerItem(),
    R,
    backendItem('b', { type: 'service', spec: { hostname: 'b.default', port: 80 } }),
    {
      kind: 'endpoints',
      key: 'Endpoints/default/b/80',
      addresses: [{ host: '10.0.0.1', port: 8080, meshPod }],
      origin: { kind: 'Service', namespace: 'default', name: 'b' },
    },
  ] as const
  const asked = async (gateway: PlanItem) => (await explained([gateway, ...items])).endpoints
  expect(await asked(gateway(mesh))).toMatchObject([
    { label: '10.0.0.1:8080', meshPod: { name: 'shop/cart-1', identity: 'spiffe://own.domain/ns/shop/sa/cart' } },
  ])
  expect((await asked(gateway(undefined)))[0]!.meshPod).toBeUndefined()
})
