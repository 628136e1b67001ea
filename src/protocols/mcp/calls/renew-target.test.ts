import { expect, test, vi } from 'vitest'
import { LocalChannels } from '#state/channels.ts'
import { LocalTable } from '#state/shared-table.ts'
import { type FakeReply, type FakeTarget, fakeTargets, type SeenCall, TestClient } from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'

const SESSION_UNKNOWN = { code: -32001, message: 'Session not found' }

/** A server with sessions in memory. `restart` forgets them; while it is `down`, nothing reaches it. */
class Server {
  sessions = 0
  down = false
  readonly #lostReply: (call: SeenCall) => FakeReply
  readonly capabilities: object

  constructor(
    lostReply: (call: SeenCall) => FakeReply = () => ({ status: 404, json: {} }),
    capabilities: object = { tools: {} },
  ) {
    this.#lostReply = lostReply
    this.capabilities = capabilities
  }

  restart(): void {
    this.#first = this.sessions + 1
  }

  #first = 1

  readonly target: FakeTarget = (call) => {
    const { message, headers } = call
    if (this.down) return { failure: 'connection-refused', unreached: true }
    if (message?.method === 'initialize') {
      const result = { protocolVersion: '2025-06-18', capabilities: this.capabilities, serverInfo: {} }
      return { json: { jsonrpc: '2.0', id: message.id, result }, headers: { 'mcp-session-id': `s${++this.sessions}` } }
    }
    const number = Number(headers['mcp-session-id']?.slice(1))
    if (!(number >= this.#first)) return this.#lostReply(call)
    if (call.method === 'GET') return { events: [] }
    if (message?.id === undefined) return {}
    return { json: { jsonrpc: '2.0', id: message.id, result: { from: headers['mcp-session-id'] } } }
  }
}

function start(servers: Readonly<Record<string, Server>>, failureMode: 'FailOpen' | 'FailClosed' = 'FailClosed') {
  const { call, seen } = fakeTargets(
    Object.fromEntries(Object.entries(servers).map(([name, one]) => [name, one.target])),
  )
  const table = new LocalTable()
  const channels = new LocalChannels('w1')
  const client = new TestClient(mcpPlan(Object.keys(servers), { failureMode }), call, { table, channels })
  return { client, seen, channels }
}

const lost: [what: string, reply: FakeReply][] = [
  ['404', { status: 404, json: { jsonrpc: '2.0', id: null, error: SESSION_UNKNOWN } }],
  [
    '400 about the session',
    {
      status: 400,
      json: { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Bad Request: No valid session ID provided' } },
    },
  ],
]

test.each(lost)(
  'a target that was restarted and responds with %s is initialised again, and called again',
  async (_, reply) => {
    const server = new Server(() => reply)
    const { client, seen } = start({ a: server })
    await client.initialize()
    server.restart()
    seen.length = 0
    const { messages } = await client.request(5, 'tools/call', { name: 'x' })
    expect(messages).toEqual([{ jsonrpc: '2.0', id: 5, result: { from: 's2' } }])
    expect(seen.map(({ message }) => message?.method)).toEqual([
      'tools/call',
      'initialize',
      'notifications/initialized',
      'tools/call',
    ])
    expect(seen[1]?.message?.params).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { sampling: {} },
      clientInfo: { name: 'test', version: '1' },
    })
    // Later requests use the new session at once.
    seen.length = 0
    expect((await client.request(6, 'tools/call', { name: 'x' })).messages).toMatchObject([{ result: { from: 's2' } }])
    expect(seen).toHaveLength(1)
  },
)

test('a refusal that is not about the session passes, and nothing is called twice', async () => {
  const server = new Server(() => ({ status: 400, json: { error: 'bad arguments' } }))
  const { client, seen } = start({ a: server })
  await client.initialize()
  server.restart()
  seen.length = 0
  expect(await client.request(5, 'tools/call', { name: 'x' })).toMatchObject({
    status: 400,
    text: '{"error":"bad arguments"}',
  })
  expect(seen).toHaveLength(1)
})

test('concurrent requests of a session initialise a target once', async () => {
  const server = new Server()
  const { client } = start({ a: server })
  await client.initialize()
  server.restart()
  const replies = await Promise.all([5, 6, 7].map((id) => client.request(id, 'tools/call', { name: 'x' })))
  expect(replies.map(({ messages }) => messages[0]?.result)).toEqual([{ from: 's2' }, { from: 's2' }, { from: 's2' }])
  expect(server.sessions).toBe(2)
})

test('log level and subscriptions are set again', async () => {
  const server = new Server(undefined, { tools: {}, logging: {}, resources: { subscribe: true } })
  const { client, seen } = start({ a: server })
  await client.initialize()
  await client.request(1, 'logging/setLevel', { level: 'error' })
  await client.request(2, 'resources/subscribe', { uri: 'm://1' })
  await client.request(3, 'resources/subscribe', { uri: 'm://2' })
  await client.request(4, 'resources/unsubscribe', { uri: 'm://1' })
  server.restart()
  seen.length = 0
  await client.request(5, 'tools/call', { name: 'x' })
  const restored = seen
    .filter(({ message }) => /setLevel|subscribe/.test(message?.method ?? ''))
    .map(({ message }) => message?.params)
  expect(restored).toEqual([{ level: 'error' }, { uri: 'm://2' }])
})

/** It asks the client in each call, and counts its requests anew in each session. */
function asking(answers: string[]): FakeTarget {
  const server = new Server()
  let asked = 0
  return (call) => {
    const { message, headers } = call
    if (message?.method === 'initialize') asked = 0
    if (message?.method === 'restart') server.restart()
    if (message?.method === 'tools/call') {
      const ask = { jsonrpc: '2.0', id: asked++, method: 'elicitation/create', params: { message: 'sure?' } }
      return { events: [ask, { jsonrpc: '2.0', id: message.id, result: {} }] }
    }
    if (message?.result !== undefined) {
      answers.push(`${headers['mcp-session-id']} ${message.id} ${message.result.action}`)
      return {}
    }
    return server.target(call)
  }
}

test('a target that was restarted may use the ids of its requests again, and gets no answers to those before', async () => {
  const answers: string[] = []
  const { call } = fakeTargets({ a: asking(answers) })
  const client = new TestClient(mcpPlan(['a']), call)
  await client.initialize()
  const ask = async () => (await client.request(1, 'tools/call', { name: 'x' })).messages[0]!.id
  const answer = async (id: unknown, action: string) =>
    (await client.send({ message: { jsonrpc: '2.0', id, result: { action } } })).status
  const [first, late] = [await ask(), await ask()]
  expect(await answer(first, 'first')).toBe(202)
  await client.request(2, 'restart')
  const [again, second] = [await ask(), await ask()]
  expect([await answer(late, 'late'), await answer(again, 'again'), await answer(again, 'twice')]).toEqual([
    202, 202, 400,
  ])
  expect(await answer(second, 'second')).toBe(202)
  expect(answers).toEqual(['s1 0 first', 's2 0 again', 's2 1 second'])
})

test('a session that was deleted is not begun again for a request that is in flight', async () => {
  const released = Promise.withResolvers<void>()
  const server = new Server()
  const slow: FakeTarget = async (call) => {
    if (call.message?.method === 'tools/call') await released.promise
    return server.target(call)
  }
  const { call, seen } = fakeTargets({ a: slow })
  const client = new TestClient(mcpPlan(['a']), call)
  await client.initialize()
  const running = client.request(5, 'tools/call', { name: 'x' })
  await client.send({ method: 'DELETE' })
  server.restart()
  released.resolve()
  expect((await running).status).toBe(404)
  expect(seen.filter(({ message }) => message?.method === 'initialize')).toHaveLength(1)
})

test('a level and URIs of a client are remembered as far as their lengths allow', async () => {
  const server = new Server(undefined, { tools: {}, logging: {}, resources: { subscribe: true } })
  const { client, seen } = start({ a: server })
  await client.initialize()
  await client.request(1, 'logging/setLevel', { level: 'x'.repeat(33) })
  const long = `m://${'u'.repeat(16_000)}`
  for (const uri of ['m://1', long, 'm://2', 'm://3']) await client.request(2, 'resources/subscribe', { uri })
  await client.request(2, 'resources/subscribe', { uri: `m://${'v'.repeat(400)}` })
  server.restart()
  seen.length = 0
  await client.request(5, 'tools/call', { name: 'x' })
  const restored = seen.filter(({ message }) => /setLevel|subscribe/.test(message?.method ?? ''))
  expect(restored.map(({ message }) => message?.params?.uri).map((uri) => `${uri}`.length)).toEqual([5, 5, 404])
})

test('a client that listens is told that lists have changed', async () => {
  const server = new Server(undefined, { tools: {}, resources: {} })
  const { client, channels } = start({ a: server, b: new Server() })
  await client.initialize()
  const listening = client.send({ method: 'GET', leaves: (text) => text.includes('resources/list_changed') })
  await vi.waitFor(() => expect(channels.openChannels).toHaveLength(1))
  server.restart()
  await client.request(5, 'tools/call', { name: 'a_x' })
  expect((await listening).messages).toEqual([
    { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
    { jsonrpc: '2.0', method: 'notifications/resources/list_changed' },
  ])
})

test('DELETE ends the stream of the session', async () => {
  const { client, channels } = start({ a: new Server(), b: new Server() })
  await client.initialize()
  const listening = client.send({ method: 'GET' })
  await vi.waitFor(() => expect(channels.openChannels).toHaveLength(1))
  await client.send({ method: 'DELETE' })
  expect((await listening).text).toBe('')
})

test('FailOpen: a target that was absent joins the session when it is there', async () => {
  const late = new Server()
  late.down = true
  const { client } = start({ a: new Server(), b: late }, 'FailOpen')
  await client.initialize()
  late.down = false
  expect((await client.request(5, 'tools/call', { name: 'b_x' })).messages).toEqual([
    { jsonrpc: '2.0', id: 5, result: { from: 's1' } },
  ])
})

test('FailOpen: a target that refuses one caller joins the sessions of others', async () => {
  const late = new Server()
  late.down = true
  const picky: FakeTarget = (call) => (call.headers['x-key'] === 'bad' ? { status: 401, json: {} } : late.target(call))
  const { call } = fakeTargets({ a: new Server().target, b: picky })
  const client = new TestClient(mcpPlan(['a', 'b'], { failureMode: 'FailOpen' }), call)
  const other = client.with({})
  await client.initialize()
  await other.initialize()
  late.down = false
  const use = (one: TestClient, key: string) =>
    one.send({
      message: { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'b_x' } },
      headers: { 'x-key': key },
    })
  expect((await use(client, 'bad')).messages[0]?.error?.code).toBe(-32603)
  expect((await use(other, 'good')).messages[0]?.result).toEqual({ from: 's1' })
})

test('FailOpen: a target that stays absent is left alone for a while', async () => {
  const late = new Server()
  late.down = true
  const { client, seen } = start({ a: new Server(), b: late }, 'FailOpen')
  await client.initialize()
  await client.request(5, 'tools/list')
  seen.length = 0
  await client.request(6, 'tools/list')
  expect(seen.map(({ target }) => target)).toEqual(['a'])
})

test('a target that is initialised again while the session is deleted loses that session, too', async () => {
  const server = new Server()
  const deleted = Promise.withResolvers<void>()
  const slow: FakeTarget = async (call) => {
    if (call.message?.method === 'initialize' && server.sessions > 0) await deleted.promise
    return server.target(call)
  }
  const { call, seen } = fakeTargets({ a: slow })
  const client = new TestClient(mcpPlan(['a']), call)
  await client.initialize()
  server.restart()
  const called = client.request(5, 'tools/call', { name: 'x' })
  await vi.waitFor(() => expect(seen.at(-1)?.message?.method).toBe('initialize'))
  expect((await client.send({ method: 'DELETE' })).status).toBe(204)
  seen.length = 0
  deleted.resolve()
  expect((await called).status).toBe(404)
  expect(seen.map(({ method, headers }) => [method, headers['mcp-session-id']])).toEqual([
    ['POST', 's2'],
    ['DELETE', 's2'],
  ])
})
