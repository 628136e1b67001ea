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
