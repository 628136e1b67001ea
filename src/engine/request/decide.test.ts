import { expect, test } from 'vitest'
import type { PlanItem, RouteItem } from '#plan/item.ts'
import { type ExchangeInputs, exchangeWith } from '#policies/shared/testing.ts'
import { verifies } from '#test/support/verifies.ts'
import {
  backendItem,
  draws,
  exchangeReading,
  listenerItem,
  livePlan,
  matchOf,
  policyItem,
  routeItem,
  rules,
  toBackend,
} from '../testing.ts'
import { Decision, decide, readsResponseBody, runResponsePolicies } from './decide.ts'
import { prepareAttempt } from './prepare-attempt.ts'

const GATEWAY = 'Gateway/default/main'
const ROUTE = 'HTTPRoute/default/r'

/** A listener, a route to a backend, and the given items. */
function planWith(route: Partial<RouteItem>, ...items: readonly PlanItem[]) {
  return livePlan(listenerItem(), routeItem('r', { backends: toBackend('b'), ...route }), backendItem('b'), ...items)
}

type At = ReturnType<typeof livePlan>

async function decided({ plan, socket }: At, inputs: ExchangeInputs = {}, random: () => number = () => 0) {
  const exchange = exchangeWith(inputs)
  const decision = new Decision()
  const outcome = await decide({ index: plan.index, socket, random }, exchange, decision)
  return { exchange, decision, outcome, code: outcome?.kind === 'refusal' ? outcome.code : outcome?.kind }
}

test('a request that is to be forwarded has its listener, rule, match and backend', async () => {
  const { exchange, decision, outcome } = await decided(planWith({ matches: [matchOf('prefix /api')] }), {
    target: '/api/x',
  })
  expect(outcome).toBeUndefined()
  expect(decision.listener?.item.name).toBe('http')
  expect(decision.rule?.item.route.name).toBe('r')
  expect(decision.match?.path.value).toBe('/api')
  expect(decision.backend?.item.name).toBe('b')
  expect(exchange.matchedPrefix).toBe('/api')
  expect(exchange.names).toEqual({
    gateway: 'default/main',
    listener: 'http',
    route: 'default/r',
    routeKind: 'HTTPRoute',
    rule: 'rule 0',
    backend: 'default/b',
    backendType: 'static',
    protocol: 'http',
  })
})

test('without an asynchronous policy the decision is synchronous', () => {
  const { plan, socket } = planWith({})
  const outcome = decide({ index: plan.index, socket, random: () => 0 }, exchangeWith(), new Decision())
  expect(outcome).toBeUndefined()
})

test.each<[what: string, at: At, inputs: ExchangeInputs, code: string]>([
  ['no listener for the host', livePlan(listenerItem({ hostname: 'a.test' })), {}, 'listener-not-found'],
  ['no route at all', livePlan(listenerItem()), {}, 'route-not-found'],
  ['no route for the path', planWith({ matches: [matchOf('exact /a')] }), { target: '/b' }, 'route-not-found'],
  ['no backend', planWith({ backends: [] }), {}, 'no-valid-backends'],
  [
    'only backends of weight 0',
    planWith({ backends: [{ ...toBackend('b')[0]!, weight: 0 }] }),
    {},
    'no-valid-backends',
  ],
  ['a backend that does not exist', planWith({ backends: toBackend('gone') }), {}, 'backend-missing'],
  [
    'a reference that is broken',
    planWith({ backends: [{ backend: undefined, weight: 1, path: '' }] }),
    {},
    'backend-missing',
  ],
  ['a backend that is broken', planWith({}, backendItem('b', { broken: 'why' })), {}, 'backend-invalid'],
  ['a path with dot segments', planWith({}), { target: '/a/../b' }, 'path-invalid'],
  ['CONNECT', planWith({}), { method: 'CONNECT', target: 'example.com:443' }, 'method-not-allowed'],
])('%s is refused', async (_, at, inputs, code) => {
  const result = await decided(at, inputs)
  expect(result.code).toBe(code)
})

test('the detail of a missing backend names the reference', async () => {
  const { outcome } = await decided(planWith({ backends: toBackend('gone') }))
  expect(outcome).toMatchObject({ detail: 'spec.rules[0].backendRefs[0]' })
})

test.each([
  ['a.test', 'exact'],
  ['A.Test:8080', 'exact'],
  ['b.test', 'wild'],
  ['x.b.test', 'wild'],
  ['other', 'any'],
  ['[::1]:8080', 'any'],
])('the listener of %s is %s', async (host, name) => {
  const at = livePlan(
    listenerItem({ name: 'any' }),
    listenerItem({ name: 'wild', hostname: '*.test' }),
    listenerItem({ name: 'exact', hostname: 'a.test' }),
  )
  const { decision } = await decided(at, { headers: { host } })
  expect(decision.listener?.item.name).toBe(name)
})

test('backends are chosen by weight, and a broken reference keeps its share of the traffic', async () => {
  const weights = [3, 0, 1]
  const names = ['b', 'c', undefined]
  const backends = names.map((name, i) => ({
    backend: name === undefined ? undefined : `ProxyBackend/default/${name}`,
    weight: weights[i]!,
    path: `[${i}]`,
  }))
  const at = planWith({ backends }, backendItem('c'))
  const results: (string | undefined)[] = []
  for (const draw of [0, 0.5, 0.74, 0.76, 0.99]) {
    const { decision, code } = await decided(at, {}, draws(draw))
    results.push(decision.backend?.item.name ?? code)
  }
  expect(results).toEqual(['b', 'b', 'b', 'backend-missing', 'backend-missing'])
})

test('policies of the route run before its backend is looked at', async () => {
  const at = planWith({ backends: [] }, policyItem('traffic.directResponse', ROUTE, { status: 204 }))
  expect((await decided(at)).code).toBe('answer')
  const denied = planWith({ backends: [] }, policyItem('traffic.authorization', ROUTE, rules('Deny', 'true')))
  expect((await decided(denied)).code).toBe('authorization-denied')
})

verifies(
  'traffic/pre-routing-influences-routing',
  'routing uses the request as PreRouting policies changed it',
  async () => {
    const steer = policyItem('PreRouting.transformation', GATEWAY, {
      request: { set: [{ name: 'x-tier', value: '"gold"' }] },
    })
    const gold = routeItem('gold', {
      matches: [matchOf('prefix /', { headers: [{ name: 'x-tier', type: 'Exact', value: 'gold' }] })],
      backends: toBackend('b'),
    })
    expect((await decided(planWith({}, gold))).decision.rule?.item.route.name).toBe('r')
    expect((await decided(planWith({}, gold, steer))).decision.rule?.item.route.name).toBe('gold')
  },
)

test('a PreRouting refusal comes before routing', async () => {
  const deny = policyItem('PreRouting.authorization', GATEWAY, rules('Deny', 'true'))
  const { code, decision } = await decided(livePlan(listenerItem(), deny))
  expect(code).toBe('authorization-denied')
  expect(decision.rule).toBeUndefined()
  expect(decision.postRouting).toBeUndefined()
})

test('a path that could deceive routing is refused before any policy runs', async () => {
  const answer = policyItem('PreRouting.authorization', GATEWAY, rules('Deny', 'true'))
  expect((await decided(planWith({}, answer), { target: '/..' })).code).toBe('path-invalid')
})

const readsBody = policyItem('traffic.authorization', ROUTE, rules('Deny', 'string(request.body).contains("attack")'))
const small = policyItem('frontend.http', GATEWAY, { maxBufferSize: '1Ki' })

async function decidedWithBody(at: At, body: string, inputs: Omit<ExchangeInputs, 'body'> = { method: 'POST' }) {
  const { exchange, limits } = exchangeReading(inputs, body)
  const decision = new Decision()
  const outcome = await decide({ index: at.plan.index, socket: at.socket, random: () => 0 }, exchange, decision)
  return { limits, outcome, code: outcome?.kind === 'refusal' ? outcome.code : outcome?.kind }
}

verifies(
  ['frontend.http/maxBufferSize', 'frontend.http/maxBufferSize-only-needed'],
  'a body is buffered only if a policy reads it, up to the limit',
  async () => {
    expect((await decidedWithBody(planWith({}, small), 'x'.repeat(2000))).limits).toEqual([])
    const reading = planWith({}, small, readsBody)
    expect(await decidedWithBody(reading, 'harmless')).toMatchObject({ limits: [1024], code: undefined })
    expect(await decidedWithBody(reading, 'an attack')).toMatchObject({ limits: [1024], code: 'authorization-denied' })
    expect(await decidedWithBody(reading, 'x'.repeat(1025))).toMatchObject({ limits: [1024], code: 'body-too-large' })
  },
)

verifies('frontend.http/maxBufferSize-default', 'without a policy the buffer limit is 2 MB', async () => {
  expect((await decidedWithBody(planWith({}, readsBody), 'harmless')).limits).toEqual([2_097_152])
})

test('a body that both phases read is buffered once', async () => {
  const early = policyItem('PreRouting.authorization', GATEWAY, rules('Require', 'size(request.body) > 0'))
  const { limits, code } = await decidedWithBody(planWith({}, early, readsBody), 'harmless')
  expect([limits.length, code]).toEqual([1, undefined])
})

/** Names of the response policies that ran; each adds a marker. */
async function responseMarks(at: At, inputs: ExchangeInputs = {}): Promise<string[]> {
  const { exchange, decision, outcome } = await decided(at, inputs)
  if (outcome === undefined) await prepareAttempt(decision.backend!.groups[0]![0]!, exchange, decision)
  exchange.response = exchangeWith({ status: 200 }).response
  runResponsePolicies(exchange, decision)
  return exchange.response!.getAll('x-mark')
}

const mark = (word: string) => ({ response: { add: [{ name: 'x-mark', value: `"${word}"` }] } })
const marks = [
  policyItem('PreRouting.transformation', GATEWAY, mark('pre')),
  policyItem('traffic.transformation', ROUTE, mark('post')),
  policyItem('traffic.headerModifiers', ROUTE, { response: { add: [{ name: 'x-mark', value: 'modifier' }] } }),
  policyItem('backend.transformation', 'ProxyBackend/default/b', mark('backend')),
]

test('response policies run in the order post-routing, backend, pre-routing', async () => {
  expect(await responseMarks(planWith({}, ...marks))).toEqual(['modifier', 'post', 'backend', 'pre'])
})

test('for a refused request, only the response policies that it reached run', async () => {
  const denyPre = policyItem('PreRouting.authorization', GATEWAY, rules('Deny', 'true'))
  expect(await responseMarks(planWith({}, ...marks, denyPre))).toEqual([])
  const deny = policyItem('traffic.authorization', ROUTE, rules('Deny', 'true'))
  expect(await responseMarks(planWith({}, ...marks, deny))).toEqual(['pre'])
  expect(await responseMarks(planWith({ matches: [matchOf('exact /no')] }, ...marks))).toEqual(['pre'])
  const answer = policyItem('traffic.directResponse', ROUTE, { status: 200 })
  expect(await responseMarks(planWith({}, ...marks, answer))).toEqual(['modifier', 'post', 'pre'])
  expect(await responseMarks(planWith({ backends: [] }, ...marks))).toEqual(['modifier', 'post', 'pre'])
})

test('the response body is buffered if any policy reads it', async () => {
  const reads = { response: { set: [{ name: 'x-size', value: 'string(size(response.body))' }] } }
  const at = async (...items: PlanItem[]) => {
    const { exchange, decision } = await decided(planWith({}, ...items))
    prepareAttempt(decision.backend!.groups[0]![0]!, exchange, decision)
    return readsResponseBody(decision)
  }
  expect(await at()).toBe(false)
  expect(await at(policyItem('PreRouting.transformation', GATEWAY, reads))).toBe(true)
  expect(await at(policyItem('traffic.transformation', ROUTE, reads))).toBe(true)
  expect(await at(policyItem('backend.transformation', 'ProxyBackend/default/b', reads))).toBe(true)
})

test('near misses are collected only for a trace', async () => {
  const at = planWith({ matches: [matchOf('exact /a')] })
  expect((await decided(at, { target: '/b' })).decision.nearMisses).toEqual([])
  const exchange = exchangeWith({ target: '/b' })
  exchange.trace = {
    isCalling: false,
    note: () => {},
    callout: () => {},
    step: () => {},
    limit: () => {},
    credential: () => {},
    copy: () => {},
  }
  const decision = new Decision()
  await decide({ index: at.plan.index, socket: at.socket, random: () => 0 }, exchange, decision)
  expect(decision.nearMisses).toHaveLength(1)
})

// TLS.

const onTls = (name: string, hostname: string) =>
  listenerItem({ key: `Listener/default/main/${name}`, name, hostname, protocol: 'HTTPS' })

/** Three TLS listeners on one socket; the routes are at the first two. */
function secured(): At {
  const attachments = ['a', 'wild'].map((name) => ({ listener: `Listener/default/main/${name}`, hostnames: [] }))
  return livePlan(
    onTls('a', 'a.test'),
    onTls('wild', '*.wild.test'),
    onTls('b', 'b.test'),
    routeItem('r', { backends: toBackend('b'), attachments }),
    backendItem('b'),
  )
}

test.each<[what: string, serverName: string, host: string, listener: string | undefined, code: string | undefined]>([
  ['the host of the handshake', 'a.test', 'a.test', 'a', undefined],
  ['with its port and in capitals', 'a.test', 'A.test:443', 'a', undefined],
  ['another host of the same listener', 'x.wild.test', 'y.wild.test', 'wild', undefined],
  ['an absolute name', 'a.test', 'a.test.:443', 'a', undefined],
  ['the host of another listener', 'a.test', 'b.test', 'a', 'misdirected'],
  ['the absolute name of another listener', 'a.test', 'b.test.', 'a', 'misdirected'],
  ['a host of another listener by wildcard', 'a.test', 'x.wild.test', 'a', 'misdirected'],
  ['a host of no listener', 'a.test', 'c.test', 'a', 'route-not-found'],
  ['a server name whose listener was removed', 'c.test', 'a.test', undefined, 'listener-not-found'],
])('TLS: %s', async (_, serverName, host, listener, code) => {
  const found = await decided(secured(), { scheme: 'https', serverName, headers: { host } })
  expect([found.decision.listener?.item.name, found.code]).toEqual([listener, code])
})

test('TLS: pre-routing policies of the listener run before the host is compared', async () => {
  const deny = policyItem('traffic.authorization', 'Gateway/default/main', rules('Deny', 'true'), {
    phase: 'PreRouting',
  })
  const { plan, socket } = livePlan(onTls('a', 'a.test'), onTls('b', 'b.test'), deny)
  const { code } = await decided(
    { plan, socket },
    { scheme: 'https', serverName: 'a.test', headers: { host: 'b.test' } },
  )
  expect(code).toBe('authorization-denied')
})

test.each<[version: '1.0' | '1.1' | '2', inputs: ExchangeInputs, code: string | undefined]>([
  ['1.1', {}, 'grpc-needs-http2'],
  ['1.0', {}, 'grpc-needs-http2'],
  ['2', {}, undefined],
  ['1.1', { method: 'GET' }, undefined],
  ['1.1', { headers: { 'content-type': 'application/grpc-web' } }, undefined],
])('a gRPC call over HTTP/%s, which has trailers only in version 2: %j', async (version, inputs, code) => {
  const grpc = { method: 'POST', headers: { 'content-type': 'application/grpc' }, ...inputs }
  const { plan, socket } = planWith({})
  const exchange = exchangeWith(grpc)
  exchange.version = version
  const outcome = await decide({ index: plan.index, socket, random: () => 0 }, exchange, new Decision())
  expect(outcome?.kind === 'refusal' ? outcome.code : outcome).toBe(code)
})

const inQuery = (name: string) => ({
  mode: 'Optional',
  secretRef: { name: 's' },
  location: { queryParameter: { name } },
})

test.each([
  ['refuses for its Connection field', { headers: { connection: 'x-set' } }, 'connection-invalid'],
  ['refuses for its path', { target: '/a%2fb?x=1&shop=&more=' }, 'path-ambiguous'],
  ['forwards', {}, undefined],
])('credentials in the query are redacted in a request that the gateway %s', async (_, inputs, code) => {
  const set = [{ name: 'x-set', value: 'request.path' }]
  const at = planWith(
    {},
    policyItem('PreRouting.apiKeyAuthentication', GATEWAY, inQuery('shop')),
    policyItem('traffic.apiKeyAuthentication', ROUTE, inQuery('more')),
    policyItem('traffic.transformation', ROUTE, { request: { set } }),
  )
  const target = '/?x=1&shop=&more='
  const { exchange, code: found } = await decided(at, { target, ...inputs })
  expect(found).toBe(code)
  expect(exchange.redactedParameters).toEqual(['shop', 'more'])
})
