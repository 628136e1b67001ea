import { expect, test } from 'vitest'
import type { Exchange } from '#exchange/exchange.ts'
import { fakeTargets, initializeMessage, TestClient, type TestRequest, target } from '#test/support/fake-targets.ts'
import { compileTestMcp, mcpPlan } from '#test/support/mcp-plan.ts'
import { verifies } from '#test/support/verifies.ts'

const single = mcpPlan(['a'])
const double = mcpPlan(['a', 'b'])
const DENY_NOTHING = { action: 'Deny', policy: { matchExpressions: ['mcp.tool.name == "nothing"'] } } as const
const ruled = compileTestMcp({ targets: [{ name: 'a' }] }, [{ authorization: DENY_NOTHING }]).plan
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }

const echo = target(({ message }) => ({ json: { jsonrpc: '2.0', id: message?.id, result: { seen: message?.params } } }))

/** A client of targets `a` and `b`, in a session. */
async function startSession(plan = double, a = echo, b = echo) {
  const targets = fakeTargets({ a, b })
  const client = new TestClient(plan, targets.call)
  await client.initialize()
  targets.seen.length = 0
  return { client, seen: targets.seen }
}

const refusals: [name: string, request: TestRequest, status: number, refusal: string | undefined][] = [
  ['method', { method: 'PUT', message: ping }, 405, 'method-not-allowed'],
  ['Accept without streams', { message: ping, headers: { accept: 'application/json' } }, 406, 'mcp-not-acceptable'],
  ['Accept before all else', { message: '{', headers: { accept: 'text/html' } }, 406, 'mcp-not-acceptable'],
  ['content type', { message: ping, headers: { 'content-type': 'text/plain' } }, 415, 'mcp-content-type'],
  ['not JSON', { message: '{"jsonrpc":' }, 400, 'mcp-message-invalid'],
  ['no body', {}, 400, 'mcp-message-invalid'],
  ['a batch', { message: [ping] }, 400, 'mcp-message-invalid'],
  ['revision', { message: ping, headers: { 'mcp-protocol-version': '1999-01-01' } }, 400, 'mcp-version-unsupported'],
  ['no session', { message: ping, headers: { 'mcp-session-id': undefined } }, 400, 'mcp-session-missing'],
  ['garbage for a session', { message: ping, headers: { 'mcp-session-id': 'x' } }, 404, 'mcp-session-unknown'],
  ['a lost session', { message: ping, headers: { 'mcp-session-id': 'x'.repeat(99) } }, 404, 'mcp-session-unknown'],
  ['GET without streams', { method: 'GET', headers: { accept: 'text/html' } }, 406, 'mcp-not-acceptable'],
  ['GET without session', { method: 'GET', headers: { 'mcp-session-id': undefined } }, 400, 'mcp-session-missing'],
  [
    'DELETE without session',
    { method: 'DELETE', headers: { 'mcp-session-id': undefined } },
    400,
    'mcp-session-missing',
  ],
  [
    'the older transport without streams',
    { method: 'GET', target: '/x/sse', headers: { accept: 'text/html', 'mcp-session-id': undefined } },
    406,
    'mcp-not-acceptable',
  ],
  [
    'a message of an unknown stream',
    { message: ping, target: '/sse?sessionId=1', headers: { 'mcp-session-id': undefined } },
    404,
    'mcp-session-unknown',
  ],
  ['OAuth metadata, spelled oddly', { method: 'GET', target: '//.well-known/x' }, 404, 'route-not-found'],
  [
    'OAuth metadata of two',
    { method: 'GET', target: '/.well-known/oauth-protected-resource/mcp' },
    404,
    'route-not-found',
  ],
  [
    'a notification of no session',
    { message: { jsonrpc: '2.0', method: 'notifications/x' }, headers: { 'mcp-session-id': undefined } },
    400,
    'mcp-session-missing',
  ],
]

test.each(refusals)('refused: %s', async (_, request, status, refusal) => {
  const { client, seen } = await startSession()
  const received = await client.send(request)
  expect(received.status).toBe(status)
  expect(received.exchange.refusal).toBe(refusal)
  expect(seen).toEqual([])
})

test.each<[field: string, value: string, status: number, refusal: string | undefined]>([
  ['accept', 'text/html', 200, undefined],
  ['content-type', 'text/plain', 415, 'mcp-content-type'],
  ['mcp-session-id', 'x', 404, 'mcp-session-unknown'],
  ['mcp-protocol-version', '2025-06-18', 400, 'mcp-version-unsupported'],
])('a field that comes twice counts as a whole: %s', async (name, value, status, refusal) => {
  const { client } = await startSession()
  const headers = { 'mcp-protocol-version': '2025-06-18' }
  const prepare = (exchange: Exchange) => exchange.request.append(name, value)
  const received = await client.send({ message: ping, headers, prepare })
  expect([received.status, received.exchange.refusal]).toEqual([status, refusal])
})

test('plain refusals are text, and 405 names the methods', async () => {
  const { client } = await startSession()
  const received = await client.send({ method: 'PATCH' })
  expect(received.headers).toEqual({ 'content-type': 'text/plain; charset=utf-8', allow: 'GET, POST, DELETE' })
  expect((await client.send({ message: ping, headers: { 'mcp-session-id': 'x' } })).text).toBe('mcp: unknown session')
})

test('a batch is refused in JSON-RPC', async () => {
  const { client } = await startSession()
  const { messages, headers } = await client.send({ message: [ping] })
  expect(headers['content-type']).toBe('application/json')
  expect(messages).toEqual([{ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch not supported' } }])
})

test.each([
  ['{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"tools/call","params":{"name":"a_x"}}', null, 'Method'],
  ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a_x","Name":"b_y"}}', 1, 'Name'],
  ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a_x","name":"b_y"}}', 1, 'name'],
])('messages that targets could read differently are refused: %s', async (message, id, member) => {
  const { client, seen } = await startSession()
  const received = await client.send({ message })
  const error = { code: -32600, message: `ambiguous member "${member}"` }
  expect(received).toMatchObject({ status: 400, messages: [{ jsonrpc: '2.0', id, error }] })
  expect(received.exchange).toMatchObject({ refusal: 'mcp-message-ambiguous', mcp: { errorCode: -32600 } })
  expect(seen).toEqual([])
})

test('a client of an unknown revision learns which revisions there are', async () => {
  const { client } = await startSession()
  const message = { jsonrpc: '2.0', id: 3, method: 'server/discover' }
  const received = await client.send({ message, headers: { 'mcp-protocol-version': '2027-01-01' } })
  const supported = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
  const error = { code: -32022, message: 'Unsupported protocol version', data: { supported, requested: '2027-01-01' } }
  expect(received.messages).toEqual([{ jsonrpc: '2.0', id: 3, error }])
})

test('header and initialize must name the same revision', async () => {
  const { client } = await startSession()
  const headers = { 'mcp-protocol-version': '2025-06-18', 'mcp-session-id': undefined }
  expect((await client.send({ message: initializeMessage(), headers })).status).toBe(400)
})

test.each([
  ['localhost:8080', undefined, 200],
  ['evil.example', undefined, 403],
  ['localhost', 'http://evil.example', 403],
])('on a loopback listener host %s with origin %s gets %i', async (host, origin, status) => {
  const client = new TestClient(double, fakeTargets({ a: echo, b: echo }).call, { boundToLoopback: true })
  const received = await client.send({ message: initializeMessage(), headers: { host, origin } })
  expect(received.status).toBe(status)
})

test('elsewhere any host will do', async () => {
  const { client } = await startSession()
  expect(
    (await client.send({ message: ping, headers: { host: 'mcp.example', origin: 'http://x.example' } })).status,
  ).toBe(200)
})

test('ping is answered by the gateway', async () => {
  const { client, seen } = await startSession()
  const { messages, headers } = await client.request(4, 'ping')
  expect(headers).toEqual({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  expect(messages).toEqual([{ jsonrpc: '2.0', id: 4, result: {} }])
  expect(seen).toEqual([])
})

const notOffered = [
  ['tasks/update', 'one target', single],
  ['server/discover', 'one target', single],
  ['x', 'several targets', double],
  ['toString', 'several targets', double],
  ['x', 'rules', ruled],
] as const

test.each(notOffered)('the method %s is not offered with %s', async (method, _, plan) => {
  const { client, seen } = await startSession(plan)
  const { messages, status, exchange } = await client.request(4, method)
  expect(status).toBe(200)
  expect(messages).toMatchObject([{ id: 4, error: { code: -32601 } }])
  expect(exchange.mcp).toMatchObject({ method, errorCode: -32601 })
  expect(seen).toEqual([])
})

test('methods of extensions reach the only target, unchanged', async () => {
  const { client, seen } = await startSession(single)
  await client.request(4, 'skills/list', { more: 1 })
  expect(seen.map(({ message }) => message)).toEqual([
    { jsonrpc: '2.0', id: 4, method: 'skills/list', params: { more: 1 } },
  ])
})

verifies(
  'backend.mcp/stateful-session-header',
  'initialize makes a session that only its backend and caller can use',
  async () => {
    const { call } = fakeTargets({ a: echo, b: echo })
    const client = new TestClient(double, call)
    const received = await client.initialize(({ identity }) => {
      identity.apiKey = { key: 'k', entry: 'alice', metadata: {} }
    })
    expect(received.headers['mcp-session-id']).toMatch(/^[\x21-\x7e]+$/)
    expect(received.exchange.mcp?.sessionId).toBe(client.sessionId)
    expect((await client.request(1, 'ping')).status).toBe(404)
  },
)

test('each target gets its own session and revision, not those of the client', async () => {
  const { client, seen } = await startSession()
  await client.notify('notifications/initialized')
  expect(
    seen.map(({ target, headers }) => [target, headers['mcp-session-id'], headers['mcp-protocol-version']]),
  ).toEqual([
    ['a', 'session of a', '2025-11-25'],
    ['b', 'session of b', '2025-11-25'],
  ])
})

const sent = {
  authorization: 'Bearer x',
  cookie: 'c=1',
  'proxy-authorization': 'Basic x',
  'x-custom': '1',
  traceparent: '00-1-2-03',
  'accept-encoding': 'gzip',
  connection: 'close',
  'last-event-id': '7',
}

test('with one target the headers of the client go on, credentials too', async () => {
  const { client, seen } = await startSession(single)
  await client.send({ message: { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers: sent })
  expect(seen[0]).toMatchObject({ method: 'POST', path: '/mcp' })
  expect(seen[0]?.headers).toEqual({
    authorization: 'Bearer x',
    cookie: 'c=1',
    'proxy-authorization': 'Basic x',
    'x-custom': '1',
    traceparent: '00-1-2-03',
    accept: 'application/json, text/event-stream',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'mcp-protocol-version': '2025-11-25',
    'mcp-session-id': 'session of a',
  })
})

test('with several targets credentials go only where they are passed on', async () => {
  const { plan } = compileTestMcp({ targets: [{ name: 'a', auth: { passthrough: {} } }, { name: 'b' }] })
  const { client, seen } = await startSession(plan)
  await client.send({ message: { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers: sent })
  expect(seen.map(({ headers }) => [headers.authorization, headers.cookie, headers['x-custom']])).toEqual([
    ['Bearer x', 'c=1', '1'],
    [undefined, undefined, '1'],
  ])
})

test('DELETE ends the sessions of all targets, and the id for good', async () => {
  const { client, seen } = await startSession()
  expect(await client.send({ method: 'DELETE' })).toMatchObject({ status: 204, text: '' })
  expect(seen.map(({ method, headers }) => `${method} ${headers['mcp-session-id']}`)).toEqual([
    'DELETE session of a',
    'DELETE session of b',
  ])
  expect((await client.send({ method: 'DELETE' })).status).toBe(404)
  expect((await client.request(1, 'ping')).status).toBe(404)
})
