import { expect, test, vi } from 'vitest'
import { LocalChannels } from '#state/channels.ts'
import { LocalTable } from '#state/shared-table.ts'
import { eventually } from '#test/support/eventually.ts'
import { type FakeReply, type FakeTarget, fakeTargets, type SeenCall, TestClient } from '#test/support/fake-targets.ts'
import { compileTestMcp } from '#test/support/mcp-plan.ts'
import { testSealer } from '#test/support/test-sealer.ts'
import { McpMemory } from '../request/mcp-memory.ts'
import { BoundedQueue } from './bounded-queue.ts'
import { closeConnection } from './call-over-sse.ts'

/** A server with the HTTP+SSE transport. `answer` gives the messages that a request causes on the stream; `end` ends the stream. */
class SseServer {
  readonly streams: BoundedQueue<object | string>[] = []
  readonly #first: string
  readonly #answer: (call: SeenCall) => readonly (object | 'end')[]

  constructor(answer: (call: SeenCall) => readonly (object | 'end')[] = echo, first = endpoint('/messages?s=')) {
    this.#answer = answer
    this.#first = first
  }

  isDown = false

  readonly target: FakeTarget = (call): FakeReply => {
    if (this.isDown) return { failure: 'connection-refused', unreached: true }
    if (call.method === 'GET') {
      const stream = new BoundedQueue<object | string>(1000)
      void stream.put(this.#first.replace('s=', `s=${this.streams.length}`))
      this.streams.push(stream)
      return { events: stream.read() }
    }
    const stream = this.streams[Number(/s=(\d+)/.exec(call.path)?.[1])]
    if (stream === undefined) return { status: 405 }
    for (const sent of this.#answer(call)) {
      if (sent === 'end') stream.end()
      else void stream.put(sent)
    }
    return { status: 202 }
  }
}

const endpoint = (at: string) => `event: endpoint\ndata: ${at}\n\n`

/** Answers every request with its method. */
function echo({ message }: SeenCall): object[] {
  if (message?.id === undefined || message.method === undefined) return []
  const known = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: {} }
  const result = message.method === 'initialize' ? known : { method: message.method }
  return [{ jsonrpc: '2.0', id: message.id, result }]
}

/** Clients at two workers, with one sealing key. */
function start(server: Pick<SseServer, 'target'>) {
  const { call, seen } = fakeTargets({ a: server.target })
  const { plan } = compileTestMcp({ targets: [{ name: 'a', protocol: 'SSE' }] })
  const channels: LocalChannels[] = ['w1', 'w2'].map(
    (name, index) =>
      new LocalChannels(name, async ({ name, text, thread }) => {
        const other = channels[1 - index]!
        return thread === undefined || thread === other.thread ? other.deliver(name, text) : false
      }),
  )
  const shared = { sealer: testSealer(), table: new LocalTable() }
  const memories = [new McpMemory(), new McpMemory()]
  const clients = channels.map((own, index) => {
    return new TestClient(plan, call, { ...shared, channels: own, memory: memories[index]! })
  })
  return { first: clients[0]!, second: clients[1]!, seen, memories, channels }
}

const CALL = { name: 'x', arguments: {} }

test('messages go to the endpoint of the session, and replies come from its stream, at every worker', async () => {
  const { first, second, seen, channels } = start(new SseServer())
  await first.initialize()
  second.sessionId = first.sessionId
  const replies = [await first.request(1, 'tools/call', CALL), await second.request(2, 'tools/call', CALL)]
  expect(replies.map(({ messages }) => messages)).toEqual([
    [{ jsonrpc: '2.0', id: 1, result: { method: 'tools/call' } }],
    [{ jsonrpc: '2.0', id: 2, result: { method: 'tools/call' } }],
  ])
  expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /sse',
    'POST /messages?s=0',
    'POST /messages?s=0',
    'POST /messages?s=0',
  ])
  expect(seen.some(({ headers }) => 'mcp-session-id' in headers)).toBe(false)
  expect(channels[1]!.openChannels).toEqual([])
})

test('the end of the session closes the stream, also from another worker', async () => {
  const { first, second, memories } = start(new SseServer())
  await first.initialize()
  expect(memories[0]!.connections.size).toBe(1)
  second.sessionId = first.sessionId
  expect((await second.send({ method: 'DELETE' })).status).toBe(204)
  expect(memories[0]!.connections.size).toBe(0)
})

test('the decision record has the attempts at every worker, with the status of the POST', async () => {
  const server = new SseServer()
  const { first, second } = start(server)
  const { exchange: opening } = await first.initialize()
  second.sessionId = first.sessionId
  expect(opening.attempts).toMatchObject([
    { endpoint: 'a', status: 200 },
    { endpoint: 'a', status: 202 },
  ])
  for (const client of [first, second]) {
    const { exchange } = await client.request(1, 'tools/call', CALL)
    expect(exchange.attempts).toMatchObject([{ endpoint: 'a', status: 202, endedMs: expect.any(Number) }])
  }
  server.isDown = true
  const { exchange } = await first.request(2, 'tools/call', CALL)
  expect(exchange.attempts?.[0]).toMatchObject({ endpoint: 'a', status: 0, failure: 'connection-refused' })
})

test('the last message for a session reaches the target before the stream is closed, from every worker', async () => {
  for (const asker of [0, 1]) {
    const server = new SseServer()
    const { first, memories, channels, seen } = start(server)
    await first.initialize()
    const [connection] = memories[0]!.connections.values()
    const last = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await closeConnection({ channels: channels[asker]! } as never, connection!.id, last)
    const headers = { 'content-type': 'application/json' }
    expect(seen.at(-1)).toMatchObject({ method: 'POST', path: '/messages?s=0', headers, text: last })
    expect(memories[0]!.connections.size).toBe(0)
  }
})

test('a client without sessions that leaves: the target is told of the cancellation before its stream is closed', async () => {
  const server = new SseServer((call) => (call.message?.method === 'tools/call' ? [] : echo(call)))
  const { first, memories, seen } = start(server)
  const version = '2026-07-28'
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  }
  const methods = () => seen.map(({ method, message }) => message?.method ?? method)
  await first.send({
    message: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...CALL, _meta } },
    headers: { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'x' },
    leaves: () => methods().includes('tools/call'),
  })
  await eventually('the stream is closed', () => memories[0]!.connections.size === 0)
  expect(methods().slice(-2)).toEqual(['tools/call', 'notifications/cancelled'])
})

test('a stream that ends during a call fails the call, and the next one opens another', async () => {
  const server = new SseServer((call) => (call.message?.id === 1 ? ['end'] : echo(call)))
  const { first, memories } = start(server)
  await first.initialize()
  const broken = await first.request(1, 'tools/call', CALL)
  expect(broken.messages).toMatchObject([{ id: 1, error: { code: -32603 } }])
  expect(broken.exchange.refusalDetail).toBe('the target has closed the event stream')
  expect(memories[0]!.connections.size).toBe(0)
  expect((await first.request(2, 'tools/call', CALL)).messages).toMatchObject([{ id: 2, result: {} }])
  expect(server.streams).toHaveLength(2)
})

test('the stream of a session that its server has forgotten is closed, and the call opens another', async () => {
  const server = new SseServer()
  let hasForgotten = false
  const forgetful: FakeTarget = (call) =>
    hasForgotten && call.path.endsWith('s=0') ? { status: 404, json: {} } : server.target(call)
  const { first, memories } = start({ target: forgetful })
  await first.initialize()
  const [forgotten] = memories[0]!.connections.values()
  hasForgotten = true
  expect((await first.request(1, 'tools/call', CALL)).messages).toMatchObject([{ id: 1, result: {} }])
  const [open] = memories[0]!.connections.values()
  expect([forgotten!.isClosed, open!.isClosed, memories[0]!.connections.size]).toEqual([true, false, 1])
})

test('a target that was down is used again as soon as it is up', async () => {
  const server = new SseServer()
  const { first, memories } = start(server)
  await first.initialize()
  server.isDown = true
  server.streams[0]!.end()
  await vi.waitFor(() => expect(memories[0]!.connections.size).toBe(0))
  expect((await first.request(1, 'tools/call', CALL)).status).toBe(503)
  server.isDown = false
  expect((await first.request(2, 'tools/call', CALL)).messages).toMatchObject([{ id: 2, result: {} }])
})

test('without sessions each message has a stream of its own', async () => {
  const server = new SseServer()
  const { call } = fakeTargets({ a: server.target })
  const { plan } = compileTestMcp({ targets: [{ name: 'a', protocol: 'SSE' }], sessionRouting: 'Stateless' })
  const memory = new McpMemory()
  const client = new TestClient(plan, call, { memory })
  for (const id of [1, 2]) {
    expect((await client.request(id, 'tools/call', CALL)).messages).toMatchObject([{ id, result: {} }])
  }
  expect(server.streams).toHaveLength(2)
  expect(memory.connections.size).toBe(0)
})

const hostile: [what: string, first: string, detail: string][] = [
  ['an endpoint at another server', endpoint('http://10.0.0.1/messages?s='), 'named an endpoint of another server'],
  ['an endpoint at another port', endpoint('http://127.0.0.1:81/messages?s='), 'named an endpoint of another server'],
  ['an endpoint that is no URL', endpoint('http://['), 'named an endpoint of another server'],
  ['an endpoint of another scheme', endpoint('file:///etc/passwd'), 'named an endpoint of another server'],
  ['a message instead of an endpoint', 'data: {}\n\n', 'did not name its endpoint within 10 s in its first event'],
  [
    'a first event without end',
    `event: endpoint\ndata: ${'x'.repeat(20_000)}`,
    'did not name its endpoint within 10 s in its first event',
  ],
]

test.each(hostile)('%s fails the target', async (_, first, detail) => {
  const { first: client, seen, memories } = start(new SseServer(echo, first))
  const { status, exchange } = await client.initialize()
  expect([status, exchange.refusalDetail]).toEqual([503, `target a ${detail}`])
  expect(seen.map(({ method }) => method)).toEqual(['GET'])
  expect(memories[0]!.connections.size).toBe(0)
})

const endpoints: [named: string, path: string][] = [
  ['/messages?s=', '/messages?s=0'],
  ['http://127.0.0.1/messages?s=', '/messages?s=0'],
  ['?s=', '/sse?s=0'],
  ['messages?s=', '/messages?s=0'],
]

test.each(endpoints)('the endpoint %s is %s', async (named, path) => {
  const { first, seen } = start(new SseServer(echo, endpoint(named)))
  expect((await first.initialize()).status).toBe(200)
  expect(seen[1]).toMatchObject({ method: 'POST', path })
})

test('progress goes to its request, and the rest to the only request in flight', async () => {
  const server = new SseServer((call) => {
    if (call.message?.id !== 1) return echo(call)
    const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 't', progress: 1 } }
    return [progress, { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info' } }, ...echo(call)]
  })
  const { first } = start(server)
  await first.initialize()
  const { messages } = await first.request(1, 'tools/call', { ...CALL, _meta: { progressToken: 't' } })
  expect(messages.map(({ method, id }) => method ?? id)).toEqual(['notifications/progress', 'notifications/message', 1])
})

test('a message that comes before the client has a stream waits for it', async () => {
  const server = new SseServer()
  const { first } = start(server)
  await first.initialize()
  void server.streams[0]!.put({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  const { text } = await first.send({ method: 'GET', leaves: (seen) => seen.includes('list_changed') })
  expect(text).toContain('notifications/tools/list_changed')
})

test('64 messages wait for a stream of the client', async () => {
  const server = new SseServer()
  const { first } = start(server)
  await first.initialize()
  for (let n = 0; n < 100; n++)
    void server.streams[0]!.put({ jsonrpc: '2.0', method: 'notifications/message', params: { n } })
  await new Promise((resolve) => setTimeout(resolve, 20))
  const { messages } = await first.send({ method: 'GET', leaves: (seen) => seen.includes('"n":63') })
  expect(messages.map(({ params }) => params?.n)).toEqual(Array.from({ length: 64 }, (_, n) => n))
})

test.each([
  ['of a known client', { jwt: { claims: { sub: 'greedy' }, token: 't' } }],
  ['of an address', {}],
])('the 10,001st stream takes the place of one that is unused, %s', async (_, identity) => {
  const { first: client, memories } = start(new SseServer())
  const { connections } = memories[0]!
  const initialize = () => client.initialize((exchange) => void Object.assign(exchange.identity, identity))
  await initialize()
  const [own] = connections.values()
  const apiKey = { key: '', entry: 'modest', metadata: {} }
  await client.initialize((exchange) => void Object.assign(exchange.identity, { apiKey }))
  const modest = [...connections.values()][1]!
  // As many as fit; they share one object.
  for (let id = 2; id < 10_000; id++) connections.set(`${id}`, own!)
  await initialize()
  expect([own!.isClosed, modest.isClosed, connections.size]).toEqual([true, false, 10_000])
  expect([...connections.values()].at(-1)).toMatchObject({ owner: own!.owner, isClosed: false })
})

test('a call in flight is cancelled at its target when the session is deleted at another worker', async () => {
  const silent = (call: SeenCall) => (call.message?.method === 'tools/call' ? [] : echo(call))
  const { first, second, seen, memories } = start(new SseServer(silent))
  await first.initialize()
  second.sessionId = first.sessionId
  const called = first.request(5, 'tools/call', CALL)
  await eventually('the call', () => seen.at(-1)?.message?.method === 'tools/call')
  const from = seen.length
  expect((await second.send({ method: 'DELETE' })).status).toBe(204)
  expect((await called).messages.at(-1)?.error?.code).toBe(-32603)
  expect(seen.slice(from).map(({ message }) => [message?.method, message?.params?.requestId])).toEqual([
    ['notifications/cancelled', 5],
  ])
  expect(memories[0]!.connections.size).toBe(0)
})
