import { expect, test } from 'vitest'
import type { BodyUse } from '#exchange/body-use.ts'
import { reject } from '#exchange/outcome.ts'
import type { BackendItem, EndpointsItem, PlanItem } from '#plan/item.ts'
import { type ExchangeInputs, exchangeWith, linesOf } from '#policies/shared/testing.ts'
import type { KeptAnswer } from '#protocols/llm/facts/kept-answer.ts'
import { verifies } from '#test/support/verifies.ts'
import { backendItem, type FieldName, listenerItem, livePlan, policyItem, routeItem } from '../testing.ts'
import { Decision, decide } from './decide.ts'
import { neededBody, needsDecodedBody, prepareAttempt } from './prepare-attempt.ts'

const ROUTE = 'HTTPRoute/default/r'

async function prepared(backend: PlanItem, items: readonly PlanItem[] = [], inputs: ExchangeInputs = {}) {
  const route = routeItem('r', { backends: [{ backend: backend.key, weight: 1, path: '' }] })
  const { plan, socket } = livePlan(listenerItem(), route, backend, ...items)
  const exchange = exchangeWith({ headers: { host: 'client.test:8080' }, ...inputs })
  const decision = new Decision()
  await decide({ index: plan.index, socket, random: () => 0 }, exchange, decision)
  const endpoint = decision.backend!.groups[0]![0]!
  const outcome = await prepareAttempt(endpoint, exchange, decision)
  return { exchange, decision, endpoint, outcome }
}

async function hostFor(backend: PlanItem, ...items: readonly PlanItem[]): Promise<string> {
  return (await prepared(backend, items)).exchange.request.authority
}

const named = backendItem('named', { spec: { host: 'backend.test', port: 9000 } })
const numbered = backendItem('numbered')
const six = backendItem('six', { spec: { host: '[::1]', port: 9000 } })
const socket = backendItem('socket', { spec: { unixPath: '/tmp/x' } })
const agent = backendItem('agent', { type: 'a2a', spec: { host: 'agent.test', port: 9000 } })

const service: BackendItem = {
  ...backendItem('svc'),
  key: 'Service/default/svc/80',
  type: 'service',
  spec: { hostname: 'svc.default.svc.cluster.local', port: 80 },
}
const endpoints: EndpointsItem = {
  kind: 'endpoints',
  key: 'Endpoints/default/svc/80',
  addresses: [{ host: '10.0.0.7', port: 8080 }],
  origin: { kind: 'Service', namespace: 'default', name: 'svc' },
}

const mode = (value: 'Auto' | 'None') => policyItem('traffic.hostRewrite', ROUTE, { mode: value })
const CLIENT = 'client.test:8080'
const SERVICE = 'svc.default.svc.cluster.local'

verifies(
  'traffic.hostRewrite/default-hostname-backends',
  'a backend with a hostname receives that hostname',
  async () => {
    expect(await hostFor(named)).toBe('backend.test')
    expect(await hostFor(agent)).toBe('agent.test')
  },
)

verifies(
  'traffic.hostRewrite/default-service-and-ip',
  'a Service, an address and a socket get the client`s',
  async () => {
    expect(await hostFor(numbered)).toBe(CLIENT)
    expect(await hostFor(six)).toBe(CLIENT)
    expect(await hostFor(socket)).toBe(CLIENT)
    expect(await hostFor(service, endpoints)).toBe(CLIENT)
  },
)

verifies('traffic.hostRewrite/auto', 'Auto writes the hostname of the destination, without a port', async () => {
  expect(await hostFor(named, mode('Auto'))).toBe('backend.test')
  expect(await hostFor(service, endpoints, mode('Auto'))).toBe(SERVICE)
})

test('Auto does not rewrite the host for an IP address or a Unix socket', async () => {
  for (const backend of [numbered, six, socket]) expect(await hostFor(backend, mode('Auto'))).toBe(CLIENT)
})

verifies('traffic.hostRewrite/none', 'None keeps the host of the client', async () => {
  expect(await hostFor(named, mode('None'))).toBe(CLIENT)
  expect(await hostFor(service, endpoints, mode('None'))).toBe(CLIENT)
})

verifies('traffic.hostRewrite/url-rewrite-wins', 'a urlRewrite hostname takes precedence over Auto', async () => {
  const rewrite = policyItem('traffic.urlRewrite', `${ROUTE}#0`, { hostname: 'rewritten.test' })
  expect(await hostFor(named, mode('Auto'), rewrite)).toBe('rewritten.test')
  expect(await hostFor(named, rewrite)).toBe('rewritten.test')
})

test.each<[field: FieldName, target: string, spec: object]>([
  ['traffic.headerModifiers', ROUTE, { request: { set: [{ name: 'Host', value: 'set.test' }] } }],
  ['traffic.transformation', ROUTE, { request: { set: [{ name: 'host', value: '"set.test"' }] } }],
  ['backend.transformation', named.key, { request: { set: [{ name: ':authority', value: '"set.test"' }] } }],
])('a host that %s set takes precedence over Auto', async (field, target, spec) => {
  expect(await hostFor(named, mode('Auto'), policyItem(field, target, spec))).toBe('set.test')
})

test('a rewrite of only the path keeps the automatic host rewrite', async () => {
  const rewrite = policyItem('traffic.urlRewrite', `${ROUTE}#0`, {
    path: { type: 'ReplaceFullPath', replaceFullPath: '/new' },
  })
  const { exchange } = await prepared(named, [rewrite])
  expect([exchange.request.authority, exchange.request.target]).toEqual(['backend.test', '/new'])
})

test('backend policies run for the attempt, after the policies of the route', async () => {
  const set = (word: string) => ({ request: { set: [{ name: 'x-who', value: `"${word}"` }] } })
  const { exchange, decision } = await prepared(numbered, [
    policyItem('traffic.transformation', ROUTE, set('route')),
    policyItem('backend.transformation', numbered.key, set('backend')),
  ])
  expect(linesOf(exchange.request)).toEqual(['x-who: backend'])
  expect(decision.backendProgress.reached).toBe(0)
})

test('a backend whose credential is missing refuses the attempt', async () => {
  const auth = policyItem('backend.auth', numbered.key, { secretRef: { name: 'gone' } })
  const { outcome } = await prepared(numbered, [auth])
  expect(outcome).toMatchObject({ kind: 'refusal', code: 'backend-auth-failed' })
})

test('a connection setting that cannot be applied refuses the attempt before its policies run', async () => {
  const items = [
    policyItem('backend.tunnel', numbered.key, { backendRef: { name: 'proxy', port: 1 } }),
    policyItem('backend.auth', numbered.key, { key: 'k' }),
  ]
  const { outcome, exchange } = await prepared(numbered, items)
  expect(outcome?.kind).toBe('refusal')
  expect(linesOf(exchange.request)).toEqual([])
})

test('an endpoint that refuses at once runs no response policies, also after an attempt at another one', async () => {
  const policy = policyItem('backend.transformation', numbered.key, {
    response: { set: [{ name: 'x', value: '"y"' }] },
  })
  const { exchange, decision, endpoint } = await prepared(numbered, [policy])
  expect(decision.backendProgress.reached).toBe(0)
  const refusal = reject('backend-invalid')
  expect(await prepareAttempt({ ...endpoint, refusal }, exchange, decision)).toBe(refusal)
  expect(decision.backendProgress.reached).toBe(-1)
})

test.each<[backend: PlanItem, target: string, headers: Record<string, string>, use: BodyUse]>([
  [numbered, '/rpc', { 'content-length': '10' }, false],
  [agent, '/rpc', { 'content-length': '10' }, 'prefix'],
  [agent, '/rpc', { 'content-length': String(2 * 1024 * 1024 + 1) }, 'prefix'],
  [agent, '/rpc', { 'transfer-encoding': 'chunked' }, 'prefix'],
  [agent, '/v1/message:send', { 'content-length': '10' }, false],
])('backend %j, path %s, headers %j: needs %s of the body', async (backend, target, headers, use) => {
  const { decision, exchange } = await prepared(backend, [], { method: 'POST', target, headers })
  expect(neededBody(decision, exchange)).toBe(use)
})

test.each([
  ['nothing', undefined, false],
  ['a field of the log', { attributes: { add: [{ name: 'n', expression: 'llm.totalTokens' }] } }, true],
  ['the filter of the log', { filter: 'default(llm.totalTokens, 0u) > 100u' }, true],
  ['another field of the log', { attributes: { add: [{ name: 'n', expression: 'request.method' }] } }, false],
])('token usage is requested if %s reads it, even if the client declined it', async (_, accessLog, asked) => {
  const llm = backendItem('llm', { type: 'ai', spec: { provider: { providerOne: {}, host: 'llm.test', port: 80 } } })
  const log = accessLog === undefined ? [] : [policyItem('frontend.accessLog', 'Gateway/default/main', accessLog)]
  const body = '{"model":"m","stream":true,"stream_options":{"include_usage":false}}'
  const inputs = { method: 'POST', target: '/v1/chat/completions', body }
  const { exchange } = await prepared(llm, log, inputs)
  const sent = JSON.parse(new TextDecoder().decode(exchange.newRequestBody ?? exchange.requestBody.whole))
  expect(sent.stream_options).toEqual({ include_usage: asked })
})

const needing = (need: string) => ({ backend: { protocol: { bodyNeed: () => need } } }) as unknown as Decision

test.each([
  ['whole', { 'content-length': '5000000' }, true],
  ['whole-if-small', { 'content-length': '1' }, true],
  ['whole-if-small', { 'content-length': '2097152' }, true],
  ['whole-if-small', { 'content-length': '2097153' }, false],
  ['whole-if-small', { 'content-length': '0' }, false],
  ['whole-if-small', { 'transfer-encoding': 'chunked' }, false],
  ['none', { 'content-length': '1' }, false],
] as const)('of a body that is needed %s, headers %j: needed %s', (need, headers, use) => {
  expect(neededBody(needing(need), exchangeWith({ method: 'POST', headers }))).toBe(use)
})

test.each([
  ['whole', 'gzip', 'x', true],
  ['whole', undefined, 'x', false],
  ['whole', 'gzip', '', false],
  ['start', 'gzip', 'x', false],
] as const)(
  'a body that is needed %s, with coding %s, of text %j: must be decoded: %s',
  (need, coding, body, decoded) => {
    const headers = coding === undefined ? {} : { 'content-encoding': coding }
    expect(needsDecodedBody(needing(need), exchangeWith({ method: 'POST', headers, body }))).toBe(decoded)
  },
)

const MAIN = 'Gateway/default/main'
const added = (expression: string) => ({ attributes: { add: [{ name: 'n', expression }] } })
const responseSet = (value: string) => ({ response: { set: [{ name: 'x', value }] } })

test.each([
  ['mcp.tool.result', true],
  ['mcp.tool.error', true],
  ['mcp.tool.name', false],
])('if the log reads %s, what tools return is kept: %s', async (variable, readsToolCalls) => {
  const { decision } = await prepared(numbered, [policyItem('frontend.accessLog', MAIN, added(variable))])
  expect(decision.frontend?.readsToolCalls).toBe(readsToolCalls)
})

test.each<[what: string, field: FieldName, target: string, spec: object, reads: readonly string[]]>([
  ['a field of the log', 'frontend.accessLog', MAIN, added('llm.completion'), ['completion']],
  ['another one', 'frontend.accessLog', MAIN, added('size(llm.toolCalls)'), ['toolCalls']],
  ['one that reads only the prompt', 'frontend.accessLog', MAIN, added('llm.prompt[0].content'), []],
  [
    'one that reads the whole variable',
    'frontend.accessLog',
    MAIN,
    added('llm'),
    ['tokens', 'completion', 'toolCalls'],
  ],
  ['all variables', 'frontend.accessLog', MAIN, added('variables()'), ['tokens', 'completion', 'toolCalls']],
  ['the filter of the log', 'frontend.accessLog', MAIN, { filter: 'has(llm.completion)' }, ['completion']],
  ['a label', 'frontend.metrics', MAIN, added('string(size(llm.toolCalls))'), ['toolCalls']],
  [
    'a response policy that buffers the body',
    'traffic.transformation',
    ROUTE,
    responseSet('string(size(response.body)) + llm.completion[0]'),
    ['completion'],
  ],
  [
    'one of the backend',
    'backend.transformation',
    'llm',
    responseSet('string(size(response.body) + size(llm.toolCalls))'),
    ['toolCalls'],
  ],
  ['one that does not buffer the body', 'traffic.transformation', ROUTE, responseSet('llm.completion[0]'), []],
])('data of LLM responses that is kept for %s', async (_, field, target, spec, reads) => {
  const llm = backendItem('llm', { type: 'ai', spec: { provider: { providerOne: {}, host: 'llm.test', port: 80 } } })
  const policy = policyItem(field, target === 'llm' ? llm.key : target, spec)
  const inputs = { method: 'POST', target: '/v1/chat/completions', body: BODY }
  const { exchange, decision } = await prepared(llm, [policy], inputs)
  expect(decision.selectFilter).toBeDefined()
  const kept = exchange.llm!.answer as KeptAnswer | undefined
  kept?.addText(0, 'text')
  kept?.beginCall(0, 'i', 'n')
  const found = [
    ...(new TextDecoder().decode(exchange.newRequestBody).includes('"include_usage":true') ? ['tokens'] : []),
    ...((kept?.completion.length ?? 0) > 0 ? ['completion'] : []),
    ...((kept?.toolCalls.length ?? 0) > 0 ? ['toolCalls'] : []),
  ]
  expect(found).toEqual(reads)
})

const BODY = '{"model":"m","stream":true,"stream_options":{"include_usage":false}}'

test('a path outside the configured base path is not sent to a provider', async () => {
  const post: ExchangeInputs = { method: 'POST', target: '/v1/chat/completions', body: '{"model":"m"}' }
  const end = async (path: string) => {
    const spec = { provider: { providerOne: {}, host: 'llm.test', port: 80, path } }
    const { exchange, outcome } = await prepared(backendItem('llm', { type: 'ai', spec }), [], post)
    return outcome?.kind === 'refusal' ? outcome.code : exchange.request.target
  }
  expect(await end('/v1/%2e%2e/admin')).toBe('path-invalid')
  expect(await end('/v1/%7Echat%2F')).toBe('/v1/~chat%2F')
})
