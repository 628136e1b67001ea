import { expect, test, vi } from 'vitest'
import { type Call, CallError } from '#exchange/call.ts'
import { type FakeTarget, fakeTargets, initializeMessage, TestClient } from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { verifies } from '#test/support/verifies.ts'
import packageJson from '../../../../package.json' with { type: 'json' }

const double = mcpPlan(['a', 'b'])

/** Answers `initialize` with this result. */
function says(result: object, headers: Record<string, string> = {}): FakeTarget {
  return ({ message }) => (message === undefined ? {} : { json: { jsonrpc: '2.0', id: message.id, result }, headers })
}

const toolServer = says({
  protocolVersion: '2025-06-18',
  capabilities: { tools: { listChanged: true }, logging: {}, experimental: { x: {} }, tasks: {} },
  serverInfo: { name: 'a', version: '1' },
  instructions: 'Use wisely.',
})

const resourceServer = says({
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, resources: { subscribe: true }, completions: {} },
  serverInfo: { name: 'b', version: '1' },
})

test('several targets are merged', async () => {
  const received = await new TestClient(double, fakeTargets({ a: toolServer, b: resourceServer }).call).initialize()
  expect(received.messages[0]?.result).toEqual({
    protocolVersion: '2025-06-18',
    capabilities: {
      tools: { listChanged: true },
      logging: {},
      resources: { subscribe: true },
      completions: {},
      tasks: {},
    },
    serverInfo: { name: 'gatewright', version: packageJson.version },
    instructions: expect.stringMatching(/gateway.*\n\n\[a\]\nUse wisely\.$/s),
  })
})

test('a single target speaks for itself', async () => {
  const { messages } = await new TestClient(mcpPlan(['a']), fakeTargets({ a: toolServer }).call).initialize()
  expect(messages[0]?.result).toEqual({
    protocolVersion: '2025-06-18',
    capabilities: { tools: { listChanged: true }, logging: {}, experimental: { x: {} }, tasks: {} },
    serverInfo: { name: 'a', version: '1' },
    instructions: 'Use wisely.',
  })
})

test.each([
  ['2025-03-26', '2025-03-26'],
  ['2026-07-28', '2025-11-25'],
  ['2099-01-01', '2025-11-25'],
])('a client that wants %s makes targets be asked for %s', async (wish, asked) => {
  const { call, seen } = fakeTargets({ a: toolServer, b: resourceServer })
  const message = initializeMessage({ protocolVersion: wish })
  await new TestClient(double, call).send({ message })
  expect(seen.map(({ message }) => message?.params?.protocolVersion)).toEqual([asked, asked])
})

test('targets get the capabilities of the client', async () => {
  const capabilities = { sampling: {}, elicitation: {}, roots: {}, tasks: {} }
  const { call, seen } = fakeTargets({ a: toolServer, b: resourceServer })
  await new TestClient(double, call).send({ message: initializeMessage({ capabilities }) })
  await new TestClient(mcpPlan(['a']), call).send({ message: initializeMessage({ capabilities }) })
  const told = seen.map(({ message }) => message?.params?.capabilities)
  expect(told).toEqual([capabilities, capabilities, capabilities])
})

test('messages of targets before their responses are forwarded', async () => {
  const notification = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'hi' } }
  const chatty: FakeTarget = ({ message }) => ({
    events: [
      notification,
      { jsonrpc: '2.0', id: message?.id, result: { protocolVersion: '2025-11-25', capabilities: {} } },
    ],
  })
  const { messages } = await new TestClient(double, fakeTargets({ a: chatty, b: resourceServer }).call).initialize()
  expect(messages).toEqual([notification, expect.objectContaining({ id: 0 })])
})

test('a target may send 256 Ki characters before its response', async () => {
  const chatty = (count: number): FakeTarget => {
    const notification = {
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', data: 'x'.repeat(950) },
    }
    const result = { protocolVersion: '2025-11-25', capabilities: {} }
    return ({ message }) => ({
      events: [...Array.from({ length: count }, () => notification), { jsonrpc: '2.0', id: message?.id, result }],
    })
  }
  const begin = (count: number) => new TestClient(mcpPlan(['a']), fakeTargets({ a: chatty(count) }).call).initialize()
  expect((await begin(200)).messages).toHaveLength(201)
  const { messages } = await begin(260)
  expect(messages).toMatchObject([{ error: { message: expect.stringContaining('the limit is 262144 characters') } }])
})

const failures: [name: string, target: FakeTarget, status: number, expected: object][] = [
  ['no connection', () => ({ failure: 'connect-failed' }), 503, { error: { code: -32603 } }],
  ['a timeout', () => ({ failure: 'timeout' }), 504, { error: { code: -32603 } }],
  ['its own refusal', () => ({ status: 401, json: { error: 'token' } }), 401, { error: 'token' }],
  [
    'a JSON-RPC error',
    ({ message }) => ({ json: { jsonrpc: '2.0', id: message?.id, error: { code: -5, message: 'no' } } }),
    200,
    { error: { code: -5, message: 'no' } },
  ],
  ['no answer', () => ({}), 503, { error: { code: -32603 } }],
  ['a stream that ends too early', () => ({ events: [] }), 200, { error: { code: -32603 } }],
  ['a stream that breaks', () => ({ events: [], breaks: true }), 200, { error: { code: -32603 } }],
  ['nonsense', () => ({ events: ['data: hello\n\n'] }), 200, { error: { code: -32603 } }],
  [
    'a message that is nested too deep',
    says({
      protocolVersion: '2025-11-25',
      capabilities: { tasks: JSON.parse(`${'{"a":'.repeat(999)}1${'}'.repeat(999)}`) },
    }),
    200,
    { error: { code: -32603 } },
  ],
  ['no revision', says({ protocolVersion: '2025-11-25\r\n', capabilities: {} }), 503, { error: { code: -32603 } }],
  [
    'a session id that is too long',
    says({ protocolVersion: '2025-11-25', capabilities: {} }, { 'mcp-session-id': 'x'.repeat(1025) }),
    503,
    { error: { code: -32603 } },
  ],
  [
    'a session id that is not ASCII',
    says({ protocolVersion: '2025-11-25', capabilities: {} }, { 'mcp-session-id': 'a\u00e9' }),
    503,
    { error: { code: -32603 } },
  ],
  [
    'another media type',
    () => ({ json: 'hi', headers: { 'content-type': 'text/html' } }),
    503,
    { error: { code: -32603 } },
  ],
]

for (const [name, failing, status, expected] of failures) {
  verifies('backend.mcp/fail-closed-initialization', `${name} of one target fails the session`, async () => {
    const healthy = says({ protocolVersion: '2025-11-25', capabilities: {} }, { 'mcp-session-id': 's' })
    const { call, seen } = fakeTargets({ a: healthy, b: failing })
    const received = await new TestClient(double, call).initialize()
    expect(received.status).toBe(status)
    expect(received.messages).toMatchObject([expected])
    expect(received.headers['mcp-session-id']).toBeUndefined()
    // What was begun in vain is ended again.
    const ended = seen.find(({ target, method }) => target === 'a' && method === 'DELETE')
    expect(ended).toMatchObject({ headers: { 'mcp-session-id': 's' } })
  })

  verifies('backend.mcp/fail-open-initialization', `${name} of one target leaves it out`, async () => {
    const plan = mcpPlan(['a', 'b'], { failureMode: 'FailOpen' })
    const received = await new TestClient(plan, fakeTargets({ a: failing, b: resourceServer }).call).initialize()
    expect(received).toMatchObject({ status: 200, messages: [{ result: { capabilities: { resources: {} } } }] })
  })
}

test('a session needs one target that can take part', async () => {
  const unfit = says({ protocolVersion: '2025-11-25', capabilities: {} }, { 'mcp-session-id': 'x'.repeat(1025) })
  const plan = mcpPlan(['a', 'b'], { failureMode: 'FailOpen' })
  const received = await new TestClient(plan, fakeTargets({ a: unfit, b: unfit }).call).initialize()
  expect([received.status, received.headers['mcp-session-id']]).toEqual([503, undefined])
})

test('a revision that the gateway does not support is not that of the session', async () => {
  const odd = says({ protocolVersion: '0', capabilities: {} })
  const { messages } = await new TestClient(double, fakeTargets({ a: odd, b: toolServer }).call).initialize()
  expect(messages[0]?.result?.protocolVersion).toBe('2025-06-18')
})

test('a refusal of a target keeps its challenge, but not its session', async () => {
  const headers = { 'www-authenticate': 'Bearer resource_metadata="x"', 'mcp-session-id': 's', connection: 'close' }
  const refusing: FakeTarget = () => ({ status: 401, json: {}, headers })
  const received = await new TestClient(mcpPlan(['a']), fakeTargets({ a: refusing }).call).initialize()
  expect(received.headers).toEqual({
    'content-type': 'application/json',
    'www-authenticate': 'Bearer resource_metadata="x"',
  })
})

test('without targets nothing works, unless failures are left out', async () => {
  const { call } = fakeTargets({})
  expect((await new TestClient(mcpPlan([]), call).initialize()).status).toBe(503)
  const client = new TestClient(mcpPlan([], { failureMode: 'FailOpen' }), call)
  expect((await client.initialize()).messages).toMatchObject([{ result: { capabilities: {} } }])
  expect((await client.request(1, 'tools/list')).messages).toMatchObject([{ result: { tools: [] } }])
})

test.each([
  ['before any target has responded', 0],
  ['when one of two has responded', 1],
])('sessions of targets are ended if the client leaves %s', async (_, responded) => {
  const left = Promise.withResolvers<void>()
  let initialised = 0
  const serve = (name: string): FakeTarget => {
    return async (asked) => {
      if (asked.message?.method !== 'initialize') return {}
      if (initialised++ >= responded) await left.promise
      return toolServerOf(name)(asked)
    }
  }
  const toolServerOf = (name: string) =>
    says({ protocolVersion: '2025-11-25', capabilities: { tools: {} } }, { 'mcp-session-id': `session of ${name}` })
  const { call, seen } = fakeTargets({ a: serve('a'), b: serve('b') })
  const withSignal: Call = (destination, request) => {
    const { promise, reject } = Promise.withResolvers<never>()
    request.signal.addEventListener('abort', () => reject(new CallError('reset')))
    return Promise.race([call(destination, request), promise])
  }
  const client = new AbortController()
  const served = new TestClient(double, withSignal).send({ message: initializeMessage(), client })
  await vi.waitFor(() => expect(initialised).toBe(2))
  client.abort()
  left.resolve()
  await served
  await vi.waitFor(() => expect(seen.filter(({ method }) => method === 'DELETE')).toHaveLength(2))
  const ended = seen.filter(({ method }) => method === 'DELETE').map(({ headers }) => headers['mcp-session-id'])
  expect(ended.toSorted()).toEqual(['session of a', 'session of b'])
})
