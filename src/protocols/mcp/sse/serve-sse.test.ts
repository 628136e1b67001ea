import { expect, test } from 'vitest'
import type { Exchange } from '#exchange/exchange.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { LocalChannels } from '#state/channels.ts'
import { LocalTable } from '#state/shared-table.ts'
import { eventually } from '#test/support/eventually.ts'
import {
  type FakeTarget,
  fakeTargets,
  initializeMessage,
  TestClient,
  type TestMessage,
  target,
} from '#test/support/fake-targets.ts'
import { compileTestMcp, mcpPlan } from '#test/support/mcp-plan.ts'
import type { McpPlan } from '../config/mcp-plan.ts'
import { McpMemory } from '../request/mcp-memory.ts'
import type { McpDeps } from '../request/mcp-request.ts'

const echo = target(({ message }) => ({ json: { jsonrpc: '2.0', id: message?.id, result: { from: message?.method } } }))
const INITIALIZE = initializeMessage({ protocolVersion: '2024-11-05' })
const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' })
const call = (id: number, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } })
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' }

interface StartOptions {
  readonly plan?: McpPlan
  readonly path?: string
  readonly claim?: McpDeps['claim']
  readonly memory?: McpMemory
}

/** A client of the older transport with an open stream. */
async function start(
  targets: Readonly<Record<string, FakeTarget>> = { a: echo },
  { plan, path = '/x/sse', claim = roomFor(0).claim, memory = new McpMemory() }: StartOptions = {},
) {
  const { call: send, seen } = fakeTargets(targets)
  const channels = new LocalChannels('w1')
  const client = new TestClient(plan ?? mcpPlan(Object.keys(targets)), send, { channels, claim, memory })
  let text = ''
  let isLeaving = false
  const ended = client.send({
    method: 'GET',
    target: path,
    leaves: (received) => {
      text = received
      return isLeaving
    },
  })
  const endpoint = await eventually('the endpoint', () => /^event: endpoint\ndata: (.*)\n\n/.exec(text)?.[1])
  const messages = () =>
    [...text.matchAll(/^event: message\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as TestMessage)
  return {
    ...{ client, seen, channels, endpoint, messages, ended },
    post: (message: object | string, prepare?: (exchange: Exchange) => void, to = endpoint) =>
      client.send({ target: to, message, headers: { accept: undefined }, ...(prepare && { prepare }) }),
    /** Waits for the response with an id. */
    answer: (id: number) => eventually(`the response ${id}`, () => messages().find((message) => message.id === id)),
    leave: async () => {
      isLeaving = true
      return ended
    },
  }
}

const methods = (seen: readonly { readonly method: string; readonly message: TestMessage | undefined }[]) =>
  seen.map(({ method, message }) => message?.method ?? method)

test('the first event names the endpoint, at the address of the client', async () => {
  const { endpoint, leave } = await start({ a: echo }, { path: '/x/sse?key=1&sessionId=mine&b' })
  expect(endpoint).toMatch(/^\/x\/sse\?key=1&b&sessionId=[A-Za-z0-9_-]{64,}$/)
  const { status, headers } = await leave()
  expect([status, headers['content-type'], headers['mcp-session-id']]).toEqual([200, 'text/event-stream', undefined])
})

test('messages are answered in the stream, in a session that ends with it', async () => {
  const { claim, memory } = roomFor(0)
  const { seen, channels, post, answer, leave } = await start({ a: echo }, { claim })
  const posted = await post(INITIALIZE)
  expect([posted.status, posted.text, posted.exchange.mcp?.method]).toEqual([202, '', 'initialize'])
  expect(await answer(0)).toMatchObject({ result: { protocolVersion: '2024-11-05' } })
  await post(INITIALIZED)
  await post(call(1, 't'))
  expect(await answer(1)).toMatchObject({ result: { from: 'tools/call' } })
  await eventually('the stream of the target is asked for', () => methods(seen).includes('GET') || undefined)
  await leave()
  await eventually('the session of the target is deleted', () => methods(seen).includes('DELETE') || undefined)
  expect(seen.every(({ headers, method }) => method === 'POST' || headers['mcp-session-id'] === 'session of a')).toBe(
    true,
  )
  expect(seen.filter(({ path }) => path.includes('sessionId'))).toEqual([])
  expect([channels.openChannels, memory.heldBytes]).toEqual([[], 0])
  expect((await post(ping(2))).status).toBe(404)
})

test('what targets send without a request comes in the stream', async () => {
  const note = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
  const talking = target(({ method }) => (method === 'GET' ? { events: [note] } : {}))
  const { post, answer, messages, leave } = await start({ a: talking })
  await post(INITIALIZE)
  await answer(0)
  await post(INITIALIZED)
  await eventually('the notification', () => messages().find(({ method }) => method === note.method))
  await leave()
})

test('an event id of a client is ignored', async () => {
  const { seen, post, answer, leave } = await start({ a: echo })
  const withId = ({ request }: Exchange) => request.set('last-event-id', '7')
  await post(INITIALIZE, withId)
  await answer(0)
  await post(INITIALIZED, withId)
  const stream = await eventually('the stream of the target', () => seen.find(({ method }) => method === 'GET'))
  expect(stream.headers['last-event-id']).toBeUndefined()
  await leave()
})

const down: FakeTarget = () => ({ failure: 'connection-refused' })

test.each(['down at the beginning', 'down later'])(
  'FailClosed: a target that is %s fails requests for all',
  async (when) => {
    let isDown = when === 'down at the beginning'
    const failing: FakeTarget = (received) => (isDown ? down(received) : echo(received))
    const { post, answer, leave } = await start({ a: echo, b: failing })
    await post(INITIALIZE)
    const failure = { error: { code: -32603, message: 'the target could not be reached' } }
    if (isDown) {
      expect(await answer(0)).toMatchObject(failure)
      return void (await leave())
    }
    expect(await answer(0)).toHaveProperty('result')
    isDown = true
    await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    expect(await answer(1)).toMatchObject(failure)
    await leave()
  },
)

test('FailOpen: a target that is down is left out, and joins with a notification when it is up', async () => {
  let isDown = true
  const tools = target(({ message }) => ({
    json: { jsonrpc: '2.0', id: message?.id, result: { tools: [{ name: 'x' }] } },
  }))
  const failing: FakeTarget = (received) => (isDown ? down(received) : tools(received))
  const plan = mcpPlan(['a', 'b'], { failureMode: 'FailOpen' })
  const memory = new McpMemory()
  const { post, answer, messages, leave } = await start({ a: tools, b: failing }, { plan, memory })
  await post(INITIALIZE)
  expect(await answer(0)).toHaveProperty('result')
  await post(INITIALIZED)
  await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  expect(await answer(1)).toMatchObject({ result: { tools: [{ name: 'a_x' }] } })
  isDown = false
  // The gateway asks the target again at once instead of ten seconds after its failure.
  memory.absentUntil.clear()
  await post({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
  expect(await answer(2)).toMatchObject({ result: { tools: [{ name: 'a_x' }, { name: 'b_x' }] } })
  await eventually('the notification', () =>
    messages().find(({ method }) => method === 'notifications/tools/list_changed'),
  )
  await leave()
})

test('the gateway answers some messages itself, also before the session begins', async () => {
  const { post, answer, leave } = await start()
  await post(ping(1))
  expect(await answer(1)).toMatchObject({ error: { code: -32600 } })
  await post(INITIALIZE)
  await answer(0)
  await post(ping(2))
  expect(await answer(2)).toMatchObject({ result: {} })
  await leave()
})

test('a target that refuses a request: the client gets an error', async () => {
  const refusing = target(() => ({ status: 403, json: { error: 'no' } }))
  const { post, answer, leave } = await start({ a: refusing })
  await post(INITIALIZE)
  await answer(0)
  await post(call(1, 't'))
  expect(await answer(1)).toMatchObject({ error: { code: expect.any(Number) } })
  await leave()
})

test('a stream is a session, also with sessionRouting Stateless', async () => {
  const plan = { ...mcpPlan(['a']), sessionRouting: 'Stateless' as const }
  const { seen, post, answer, leave } = await start({ a: echo }, { plan })
  await post(INITIALIZE)
  await answer(0)
  await post(call(1, 't'))
  expect(await answer(1)).toMatchObject({ result: { from: 'tools/call' } })
  await leave()
  await eventually('the session of the target is deleted', () => methods(seen).includes('DELETE') || undefined)
  expect(methods(seen).filter((method) => method === 'initialize')).toEqual(['initialize'])
})

test('a message is served with the rules of its time, not with those of the stream', async () => {
  const { client, seen, post, answer, endpoint, leave } = await start()
  await post(INITIALIZE)
  await answer(0)
  const DENY = { action: 'Deny', policy: { matchExpressions: ['mcp.tool.name == "t"'] } } as const
  const ruled = compileTestMcp({ targets: [{ name: 'a' }] }, [{ authorization: DENY }]).plan
  await client.with({}, ruled).send({ target: endpoint, message: call(1, 't') })
  expect(await answer(1)).toMatchObject({ error: { code: -32602, message: 'Unknown tool: t' } })
  await post(call(2, 't'))
  expect(await answer(2)).toMatchObject({ result: {} })
  await leave()
  expect(methods(seen).filter((method) => method === 'tools/call')).toHaveLength(1)
})

test('the outcome of a call is noted for the log line of its POST, when the call has ended', async () => {
  const gate = Promise.withResolvers<void>()
  const slow = target(async ({ message }) => {
    const { id, params } = message!
    if (params?.name === 'slow') await gate.promise
    if (params?.name === 'fails') return { json: { jsonrpc: '2.0', id, error: { code: -32_001, message: 'no' } } }
    return params?.name === 'missing' ? { status: 403 } : { json: { jsonrpc: '2.0', id, result: {} } }
  })
  const { post, answer, leave } = await start({ a: slow })
  await post(INITIALIZE)
  await answer(0)
  const { exchange } = await post(call(1, 'slow'))
  expect([exchange.mcp?.target, exchange.attempts, exchange.refusal]).toEqual([undefined, undefined, undefined])
  let isOver = false
  void exchange.workAfterResponse!.ended.then(() => {
    isOver = true
  })
  await post(call(2, 'fails'))
  await answer(2)
  expect(isOver, 'the call is in flight').toBe(false)
  gate.resolve()

  const outcome = async ({ exchange }: { readonly exchange: Exchange }) => {
    await exchange.workAfterResponse!.ended
    const { mcp, attempts, refusal, refusalDetail } = exchange.workAfterResponse!.exchange
    return { ...mcp, attempts, refusal, refusalDetail }
  }
  const of = (name: string) => ({ method: 'tools/call', target: 'a', resourceType: 'tool', name })
  expect(await outcome({ exchange })).toMatchObject({ ...of('slow'), attempts: [{ endpoint: 'a', status: 200 }] })
  expect(await outcome(await post(call(3, 'fails')))).toMatchObject({ ...of('fails'), errorCode: -32_001 })
  const refused = { errorCode: -32_600, errorMessage: 'the request was refused with status 403' }
  expect(await outcome(await post(call(4, 'missing')))).toMatchObject({ ...of('missing'), ...refused })
  const notification = await post(INITIALIZED)
  expect(notification.exchange.workAfterResponse).toBeUndefined()
  const left = await post(call(5, 'slow'))
  await leave()
  expect(left.exchange.workAfterResponse).toBeDefined()
  await left.exchange.workAfterResponse!.ended
})

test('the session view has a call until it ends, and then its error', async () => {
  const gate = Promise.withResolvers<void>()
  const failing = target(async ({ message }) => {
    await gate.promise
    return { json: { jsonrpc: '2.0', id: message?.id, error: { code: -32_001, message: 'no' } } }
  })
  const memory = new McpMemory()
  const { seen, post, answer, leave } = await start({ a: failing }, { memory })
  await post(INITIALIZE)
  await answer(0)
  const { exchange } = await post(call(1, 't'))
  await eventually('the call', () => methods(seen).includes('tools/call') || undefined)
  const view = () => memory.activities.report(new LocalTable(), Date.now(), memory.tools)[0]
  expect(view()?.calls).toMatchObject([{ method: 'tools/call', target: 'a', item: 't' }, { method: 'GET' }])
  gate.resolve()
  await exchange.workAfterResponse!.ended
  expect(view()).toMatchObject({
    calls: [{ method: 'GET' }],
    errors: [{ method: 'tools/call', code: '-32001', message: 'no' }],
  })
  await leave()
})

test('the log line of a call names the end of the stream', async () => {
  const gate = Promise.withResolvers<never>()
  const silent = target(() => gate.promise)
  const { seen, post, answer, leave } = await start({ a: silent })
  await post(INITIALIZE)
  await answer(0)
  const { exchange } = await post(call(1, 't'))
  await eventually('the call', () => methods(seen).includes('tools/call') || undefined)
  await leave()
  gate.reject(new Error('the call was aborted'))
  await exchange.workAfterResponse!.ended
  expect(exchange.workAfterResponse!.exchange.refusalDetail).toBe('the stream of the client ended before the response')
})

test('credentials are those of the message', async () => {
  const { seen, post, answer, leave } = await start()
  await post(INITIALIZE)
  await answer(0)
  await post(call(1, 't'), ({ request }) => request.append('authorization', 'Bearer new'))
  await answer(1)
  await leave()
  const called = seen.find(({ message }) => message?.method === 'tools/call')
  expect(called?.headers.authorization).toBe('Bearer new')
})

test('a session that ends elsewhere ends the stream', async () => {
  const { client, post, answer, ended } = await start()
  await post(INITIALIZE)
  await answer(0)
  const sessionId = (await post(ping(1))).exchange.mcp?.sessionId
  await client.send({ method: 'DELETE', headers: { 'mcp-session-id': sessionId } })
  await post(ping(2))
  const { messages } = await ended
  expect(messages.find(({ id }) => id === 2)).toMatchObject({ error: { code: -32600 } })
})

test('another initialize begins another session and ends the first', async () => {
  const { seen, post, answer, leave } = await start()
  await post(INITIALIZE)
  await answer(0)
  await post({ ...INITIALIZE, id: 5 })
  await answer(5)
  await eventually('the first session of the target is deleted', () => methods(seen).includes('DELETE') || undefined)
  await post(ping(6))
  expect(await answer(6)).toMatchObject({ result: {} })
  await leave()
})

test('a stream keeps its session when it hears of one that is over already', async () => {
  const { seen, channels, post, answer, leave } = await start()
  await post(INITIALIZE)
  await answer(0)
  const before = (await post(ping(1))).exchange.mcp?.sessionId
  const [stream] = channels.openChannels.filter((name) => name.startsWith('mcp-client-stream '))
  await channels.send(stream!, JSON.stringify({ say: 'session', id: 'over' }))
  const { exchange } = await post(ping(2))
  expect(await answer(2)).toMatchObject({ result: {} })
  expect([exchange.mcp?.sessionId, methods(seen).includes('DELETE')]).toEqual([before, false])
  await leave()
})

const asAnn = (exchange: Exchange) => {
  exchange.identity.basicAuth = { username: 'ann', credential: 'Basic x' }
}

test('only the client of the stream, and only at its backend, finds it', async () => {
  const { client, post, endpoint, leave, channels } = await start()
  expect((await post(ping(1), asAnn)).status).toBe(404)
  const elsewhere = new TestClient({ ...mcpPlan(['a']), backend: 'other' }, fakeTargets({ a: echo }).call, { channels })
  for (const [sender, target] of [
    [elsewhere, endpoint],
    [client, `${endpoint}x`],
    [client, '/x/sse?sessionId='],
    [client, `/x/sse?sessionId=${'x'.repeat(99)}`],
  ] as const) {
    const { status, exchange } = await sender.send({ target, message: ping(1) })
    expect([status, exchange.refusal, exchange.loggedTarget]).toEqual([404, 'mcp-session-unknown', expect.anything()])
  }
  await leave()
})

test('the id of a stream is not shown in the log', async () => {
  const { post, leave } = await start()
  const { exchange } = await post(ping(1), (one) => {
    one.originalTarget = one.request.target
  })
  expect(exchange.loggedTarget).toMatch(/sessionId=[^A-Za-z0-9]/)
  await leave()
})

test.each([
  ['no JSON', '{', {}, 400, 'mcp-message-invalid'],
  ['a batch', '[]', {}, 400, 'mcp-message-invalid'],
  ['another content type', '{}', { 'content-type': 'text/plain' }, 415, 'mcp-content-type'],
])('%s is refused', async (_name, message, headers, expected, code) => {
  const { client, endpoint, leave } = await start()
  const { status, exchange } = await client.send({ target: endpoint, message, headers })
  expect([status, exchange.refusal]).toEqual([expected, code])
  await leave()
})

test('more than 100 messages at once are refused, and the others are served', async () => {
  const gate = Promise.withResolvers<void>()
  const slow = target(async ({ message }) => {
    await gate.promise
    return { json: { jsonrpc: '2.0', id: message?.id, result: {} } }
  })
  const { post, answer, leave } = await start({ a: slow })
  await post(INITIALIZE)
  await answer(0)
  for (let id = 1; id <= 101; id++) await post(call(id, 't'))
  expect(await answer(101)).toMatchObject({ error: { message: 'too many messages are being served' } })
  gate.resolve()
  expect(await answer(100)).toMatchObject({ result: {} })
  await post(call(102, 't'))
  expect(await answer(102)).toMatchObject({ result: {} })
  await leave()
})

test('a message may arrive at another worker than the stream', async () => {
  const streams: LocalChannels = new LocalChannels('w1', ({ name, text }) => others.deliver(name, text))
  const others: LocalChannels = new LocalChannels('w2', ({ name, text }) => streams.deliver(name, text))
  const { call: send } = fakeTargets({ a: echo })
  const { claim } = roomFor(0)
  const plan = mcpPlan(['a'])
  const sealing = new TestClient(plan, send, { channels: streams, claim, memory: new McpMemory() })
  let text = ''
  let isLeaving = false
  const ended = sealing.send({
    method: 'GET',
    target: '/sse',
    leaves: (received) => {
      text = received
      return isLeaving
    },
  })
  const endpoint = await eventually('the endpoint', () => /data: (.*)\n/.exec(text)?.[1])
  const { status } = await sealing.with({ channels: others }).send({ target: endpoint, message: INITIALIZE })
  expect(status).toBe(202)
  await eventually('the response', () => text.includes('"result"') || undefined)
  isLeaving = true
  await ended
})

test('without memory for a message the stream ends, and nothing is kept', async () => {
  const { claim, memory } = roomFor(0, 2_000)
  const long = target(({ message }) => ({
    json: { jsonrpc: '2.0', id: message?.id, result: { text: message?.id === 1 ? 'short' : 'x'.repeat(3_000) } },
  }))
  const { post, answer, ended, channels } = await start({ a: long }, { claim })
  await post(INITIALIZE)
  await answer(0)
  await post(call(1, 't'))
  expect(await answer(1)).toMatchObject({ result: { text: 'short' } })
  await post(call(2, 't'))
  expect((await ended).text).not.toContain('xxx')
  expect((await post(ping(3))).status).toBe(404)
  await eventually('nobody listens', () => channels.openChannels.length === 0 || undefined)
  expect(memory.heldBytes).toBe(0)
})
