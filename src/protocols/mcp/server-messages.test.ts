import { expect, test } from 'vitest'
import type { Exchange } from '#exchange/exchange.ts'
import { LocalChannels } from '#state/channels.ts'
import {
  type FakeTarget,
  fakeTargets,
  type SeenCall,
  TestClient,
  type TestMessage,
  target,
} from '#test/support/fake-targets.ts'
import { lastingServices } from '#test/support/lasting-services.ts'
import { compileTestMcp, MCP_BACKEND, mcpPlan } from '#test/support/mcp-plan.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import type { McpPlan } from './config/mcp-plan.ts'
import { McpMemory } from './request/mcp-memory.ts'

/** What targets say to clients without being asked, and what clients say back. */

const note = (method: string, params?: object) => ({ jsonrpc: '2.0', method, ...(params && { params }) })
const answer = ({ message }: SeenCall, result: object = {}) => ({ jsonrpc: '2.0', id: message?.id, result })

async function start(targets: Readonly<Record<string, FakeTarget>>, plan = mcpPlan(Object.keys(targets))) {
  const { call, seen } = fakeTargets(targets)
  const channels = new LocalChannels('w1')
  const client = new TestClient(plan, call, { channels })
  await client.initialize()
  seen.length = 0
  return { client, seen, channels }
}

/** Asks the client something in the middle of a call, always with id 1 and progress token 1. */
const asking: FakeTarget = target((call) => {
  if (call.message?.method !== 'tools/call') return {}
  const params = { message: 'sure?', _meta: { progressToken: 1, other: true } }
  return { events: [{ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params }, answer(call)] }
})

async function askedBy(client: TestClient, tool: string): Promise<TestMessage> {
  const { messages } = await client.request(7, 'tools/call', { name: tool })
  expect(messages).toMatchObject([{ method: 'elicitation/create' }, { id: 7, result: {} }])
  return messages[0]!
}

test('two targets may ask with the same id; each gets its own answer', async () => {
  const { client, seen } = await start({ a: asking, b: asking })
  const fromA = await askedBy(client, 'a_x')
  const fromB = await askedBy(client, 'b_x')
  expect(fromA.id).not.toBe(fromB.id)
  seen.length = 0

  expect((await client.send({ message: { jsonrpc: '2.0', id: fromB.id, result: { action: 'accept' } } })).status).toBe(
    202,
  )
  expect(
    (await client.send({ message: { jsonrpc: '2.0', id: fromA.id, error: { code: -1, message: 'no' } } })).status,
  ).toBe(202)
  expect(seen.map(({ target, message }) => [target, message])).toEqual([
    ['b', { jsonrpc: '2.0', id: 1, result: { action: 'accept' } }],
    ['a', { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'no' } }],
  ])
})

test('a target gets its own id and token back, of whatever size', async () => {
  const id = '9007199254740993'
  const ask = `{"jsonrpc":"2.0","id":${id},"method":"elicitation/create","params":{"_meta":{"progressToken":${id}}}}`
  const large = target((call) =>
    call.message?.method === 'tools/call' ? { events: [`data: ${ask}\n\n`, answer(call)] } : {},
  )
  const { client, seen } = await start({ a: large })
  const { messages } = await client.request(7, 'tools/call', { name: 'x' })
  const { progressToken } = messages[0]!.params!._meta as { progressToken: string }
  seen.length = 0
  await client.notify('notifications/progress', { progressToken, progress: 1 })
  await client.send({ message: { jsonrpc: '2.0', id: messages[0]?.id, result: {} } })
  expect(seen.map(({ text }) => text)).toEqual([
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${id},"progress":1}}`,
    `{"jsonrpc":"2.0","id":${id},"result":{}}`,
  ])
})

test('a response counts once, in its own session, and only for a pending request', async () => {
  const { client, seen } = await start({ a: asking, b: asking })
  const { id } = await askedBy(client, 'a_x')
  const message = { jsonrpc: '2.0', id, result: {} }
  const session = client.sessionId
  await client.initialize()
  seen.length = 0
  expect((await client.send({ message })).status).toBe(400)
  client.sessionId = session
  expect((await client.send({ message })).status).toBe(202)
  expect((await client.send({ message })).status).toBe(400)
  expect((await client.send({ message: { jsonrpc: '2.0', id: 1, result: {} } })).status).toBe(400)
  expect(
    (await client.send({ message: { jsonrpc: '2.0', id: null, error: { code: -32700, message: '' } } })).status,
  ).toBe(202)
  expect(seen).toHaveLength(1)
})

test('progress of the client goes to the target that asked, under its own token', async () => {
  const { client, seen } = await start({ a: asking, b: asking })
  const { params } = await askedBy(client, 'b_x')
  const meta = params?._meta as { progressToken: string; other: boolean }
  expect(meta.other).toBe(true)
  seen.length = 0
  await client.notify('notifications/progress', { progressToken: meta.progressToken, progress: 1 })
  await client.notify('notifications/progress', { progressToken: 'made up', progress: 1 })
  expect(seen.map(({ target, message }) => [target, message?.params])).toEqual([
    ['b', { progressToken: 1, progress: 1 }],
  ])
})

test('progress passes only with a token that this target got', async () => {
  const tokens: unknown[] = []
  const progress = (progressToken: unknown, at: number) =>
    note('notifications/progress', { progressToken, progress: at })
  const reporting: FakeTarget = target((call) => {
    const { progressToken } = (call.message?.params?._meta ?? {}) as { progressToken?: unknown }
    tokens.push(progressToken)
    // Its own token, that of the last call at another target, and the one that the client chose.
    return { events: [...[progressToken, tokens.at(-2), 1].map(progress), answer(call)] }
  })
  const { client } = await start({ a: reporting, b: reporting })
  await client.request(1, 'tools/call', { name: 'b_x', _meta: { progressToken: 1 } })
  const { messages, exchange } = await client.request(2, 'tools/call', { name: 'a_x', _meta: { progressToken: 1 } })
  expect(messages.map(({ id, params }) => id ?? params)).toEqual([{ progressToken: 1, progress: 0 }, 2])
  expect(exchange.mcp?.strayAnswers).toEqual(new Map([['a', 2]]))
  expect(tokens.map((token) => typeof token)).toEqual(['string', 'string'])
})

test('progress of a list comes from every target, under the token of the client', async () => {
  const listing: FakeTarget = target((call) => {
    const { progressToken } = (call.message?.params?._meta ?? {}) as { progressToken?: unknown }
    const said = note('notifications/progress', { progressToken, progress: 1 })
    return { events: [said, answer(call, { tools: [] })] }
  })
  const { client } = await start({ a: listing, b: listing })
  const { messages } = await client.request(1, 'tools/list', { _meta: { progressToken: 't' } })
  const said = { progressToken: 't', progress: 1 }
  expect(messages.map(({ id, params }) => id ?? params)).toEqual([said, said, 1])
})

test('a target can take its question back', async () => {
  const ask = { jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: {} }
  const cancel = note('notifications/cancelled', { requestId: 1 })
  const foreign = note('notifications/cancelled', { requestId: 2 })
  const { client } = await start({ a: target((call) => ({ events: [ask, cancel, foreign, answer(call)] })), b: asking })
  const { messages } = await client.request(7, 'tools/call', { name: 'a_x' })
  expect(messages).toHaveLength(3)
  expect(messages[1]?.params?.requestId).toBe(messages[0]?.id)
})

test('notifications go to all targets, unchanged', async () => {
  const { client, seen } = await start({ a: asking, b: asking })
  expect(await client.notify('notifications/roots/list_changed')).toMatchObject({ status: 202, text: '' })
  expect(seen.map(({ target, message }) => [target, message])).toEqual([
    ['a', note('notifications/roots/list_changed')],
    ['b', note('notifications/roots/list_changed')],
  ])
})

test('a cancellation goes only to the target of the request, also from another worker', async () => {
  const release = Promise.withResolvers<void>()
  const slow = target(async (call) => {
    await release.promise
    return { json: answer(call) }
  })
  const { client, seen, channels } = await start({ a: slow, b: asking })
  const pending = client.request(7, 'tools/call', { name: 'a_x' })
  seen.length = 0
  await client.notify('notifications/cancelled', { requestId: 7 })
  expect(seen.map(({ target }) => target)).toEqual(['a'])
  await client.notify('notifications/cancelled', { requestId: '7' })
  expect(seen.map(({ target }) => target)).toEqual(['a'])
  release.resolve()
  await pending
  await client.notify('notifications/cancelled', { requestId: 7 })
  expect(seen.map(({ target }) => target)).toEqual(['a'])
  expect(channels.openChannels).toEqual([])
})

test('the targets of a list in flight are told when its session is deleted', async () => {
  const release = Promise.withResolvers<void>()
  const slow = target(async (call) => {
    if (call.message?.method === 'tools/list') await release.promise
    return { json: answer(call, { tools: [] }) }
  })
  const { client, seen, channels } = await start({ a: slow, b: slow })
  const pending = client.request(7, 'tools/list')
  seen.length = 0
  expect((await client.send({ method: 'DELETE' })).status).toBe(204)
  expect(seen.map(({ target, method, message }) => [target, message?.method ?? method, message?.params])).toEqual([
    ['a', 'notifications/cancelled', { requestId: 7, reason: 'the session has ended' }],
    ['b', 'notifications/cancelled', { requestId: 7, reason: 'the session has ended' }],
    ['a', 'DELETE', undefined],
    ['b', 'DELETE', undefined],
  ])
  release.resolve()
  await pending
  expect(channels.openChannels).toEqual([])
})

test.each(['begins to drain', 'drains already'])(
  'a worker that %s does not wait for the cancellations of clients that have left',
  async (when) => {
    using time = new VirtualTime()
    const draining = new AbortController()
    const left = Promise.withResolvers<void>()
    const slow = target((call) => {
      if (call.message?.method !== 'tools/call') return {}
      const stream = async function* () {
        yield note('notifications/message', { level: 'info', data: 'begun' })
        await left.promise
      }
      return { events: stream() }
    })
    const { call, seen } = fakeTargets({ a: slow })
    const channels = new LocalChannels('w1')
    const client = new TestClient(mcpPlan(['a']), call, { channels, lasting: lastingServices(call, draining.signal) })
    await client.initialize()
    if (when === 'drains already') draining.abort()
    const leaves = (text: string) => {
      const hasBegun = text.includes('begun')
      if (hasBegun) left.resolve()
      return hasBegun
    }
    await client.send({ message: { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'x' } }, leaves })
    draining.abort()
    expect([time.nextMs, channels.openChannels]).toEqual([undefined, []])
    await client.notify('notifications/cancelled', { requestId: 7 })
    expect(seen.map((each) => each.message?.method)).not.toContain('notifications/cancelled')
  },
)

test('a stream of a target with the name of a member of all objects begins at its beginning', async () => {
  const speaking: FakeTarget = target((call) => {
    if (call.method !== 'GET') return {}
    return { events: [note('notifications/message', { level: 'info', data: 'spoken' })] }
  })
  const { client, seen } = await start({ a: asking, constructor: speaking })
  await client.send({ method: 'GET', leaves: (text) => text.includes('spoken') })
  const opened = seen.filter(({ method }) => method === 'GET')
  expect(opened.map(({ target, headers }) => [target, headers['last-event-id']]).slice(0, 2)).toEqual([
    ['a', undefined],
    ['constructor', undefined],
  ])
})

test('a client that has left can cancel within 10 s, and the target is told once', async () => {
  using time = new VirtualTime()
  let left = Promise.withResolvers<void>()
  const slow = target((call) => {
    if (call.message?.method !== 'tools/call') return {}
    const stream = async function* () {
      yield note('notifications/message', { level: 'info', data: 'begun' })
      await left.promise
    }
    return { events: stream() }
  })
  const { client, seen, channels } = await start({ a: slow, b: asking })
  const leave = async (id: number) => {
    left = Promise.withResolvers()
    const leaves = (text: string) => {
      const hasBegun = text.includes('begun')
      if (hasBegun) left.resolve()
      return hasBegun
    }
    await client.send({ message: { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'a_x' } }, leaves })
    seen.length = 0
  }
  const cancel = (requestId: number) => client.notify('notifications/cancelled', { requestId })
  await leave(7)
  await cancel(7)
  expect(seen).toMatchObject([
    { target: 'a', message: { method: 'notifications/cancelled', params: { requestId: 7 } } },
  ])
  await cancel(7)
  expect(seen).toHaveLength(1)

  await leave(8)
  await time.pass(9_999)
  await cancel(8)
  expect(seen).toHaveLength(1)
  await leave(9)
  await time.pass(10_000)
  await cancel(9)
  expect(seen).toEqual([])
  expect(channels.openChannels).toEqual([])
})

test.each([
  ['FailClosed', 503],
  ['FailOpen', 202],
] as const)('%s: a notification that one target misses is answered %i', async (failureMode, status) => {
  const deaf: FakeTarget = (call) =>
    call.message?.method === 'notifications/initialized' ? { failure: 'reset' } : asking(call)
  const { client } = await start({ a: deaf, b: asking }, mcpPlan(['a', 'b'], { failureMode }))
  expect((await client.notify('notifications/initialized')).status).toBe(status)
})

test('the log level goes to targets with logging', async () => {
  const logging = target((call) => ({ json: answer(call) }), { logging: {} })
  const { client, seen } = await start({ a: logging, b: asking, c: logging })
  const { messages } = await client.request(3, 'logging/setLevel', { level: 'error' })
  expect(messages).toEqual([{ jsonrpc: '2.0', id: 3, result: {} }])
  expect(seen.map(({ target }) => target)).toEqual(['a', 'c'])

  const silent = await start({ a: asking })
  expect((await silent.client.request(3, 'logging/setLevel', { level: 'error' })).messages).toMatchObject([
    { error: { code: -32601 } },
  ])
})

/** Answers GET with these events, POST as `asking`. */
function speaks(...events: (object | string)[]): FakeTarget {
  return (call) => (call.method === 'GET' ? { events } : asking(call))
}

const withoutStream: FakeTarget = (call) => (call.method === 'GET' ? { status: 405 } : asking(call))
const listen = { method: 'GET' }

test('the stream has the messages of all targets', async () => {
  const { client, seen } = await start(
    {
      a: speaks(note('notifications/tools/list_changed'), note('notifications/resources/updated', { uri: 'm://x' })),
      b: speaks({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      c: withoutStream,
    },
    mcpPlan(['a', 'b', 'c'], { failureMode: 'FailClosed' }),
  )
  const received = await client.send({ ...listen, leaves: (text) => text.includes('ping') && text.includes('uri') })
  expect(received.headers['content-type']).toBe('text/event-stream')
  expect(received.messages).toContainEqual(note('notifications/tools/list_changed'))
  expect(seen[0]).toMatchObject({
    method: 'GET',
    headers: { accept: 'text/event-stream', 'mcp-session-id': 'session of a' },
  })
})

test('updated resources have the URIs that the client uses', async () => {
  const { client } = await start({
    a: speaks(note('notifications/resources/updated', { uri: 'm://x' })),
    b: withoutStream,
  })
  const { messages } = await client.send({ ...listen, leaves: (text) => text.includes('updated') })
  expect(messages).toEqual([note('notifications/resources/updated', { uri: 'a+m://x' })])
})

test('a single target keeps its event ids; the client resumes with them', async () => {
  const { client, seen } = await start({ a: speaks('id: 4\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n') })
  const { text } = await client.send({ ...listen, headers: { 'last-event-id': '3' } })
  expect(text).toBe('event: message\nid: 4\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n')
  expect(seen[0]?.headers['last-event-id']).toBe('3')
})

const hasStrays = (_: string, { mcp }: Exchange) => mcp?.strayAnswers?.get('b') === 9

/** Claims to answer the requests 1 to 9 whenever it may say something, and whatever it is asked in the end. */
const guessing: FakeTarget = target((call) => {
  const guesses = Array.from({ length: 9 }, (_, id) => ({ jsonrpc: '2.0', id: id + 1, result: { by: call.target } }))
  if (call.method === 'GET') return { events: guesses }
  const id = call.message?.id
  const result = { by: call.target, tools: [{ name: 'x' }], isRight: true }
  return { events: [...guesses.filter((guess) => guess.id !== id), { jsonrpc: '2.0', id, result }] }
})

test('only the target that was asked may answer an id', async () => {
  const honest = target((call) => (call.method === 'GET' ? { status: 405 } : { json: answer(call, { tools: [] }) }))
  const { client } = await start({ a: honest, b: guessing })
  const listening = await client.send({ ...listen, leaves: hasStrays })
  expect(listening.messages).toEqual([])
  expect(listening.exchange.mcp?.strayAnswers).toEqual(new Map([['b', 9]]))

  const called = await client.request(7, 'tools/call', { name: 'b_x' })
  expect(called.messages).toMatchObject([{ id: 7, result: { by: 'b', isRight: true } }])
  expect(called.exchange.mcp?.strayAnswers).toEqual(new Map([['b', 8]]))

  const listed = await client.request(3, 'tools/list')
  expect(listed.messages.map(({ id }) => id)).toEqual([3])
  expect(listed.exchange.mcp?.strayAnswers).toEqual(new Map([['b', 8]]))

  expect((await client.request(5, 'tools/call', { name: 'a_x' })).exchange.mcp?.strayAnswers).toBeUndefined()
})

test('a target that is being initialised may answer nothing else', async () => {
  const early: FakeTarget = (call) => {
    if (call.message?.method !== 'initialize') return asking(call)
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} }
    return {
      events: [
        { jsonrpc: '2.0', id: 5, result: {} },
        { jsonrpc: '2.0', id: call.message.id, result },
      ],
    }
  }
  const client = new TestClient(mcpPlan(['a']), fakeTargets({ a: early }).call)
  const received = await client.initialize()
  expect(received.messages.map(({ id }) => id)).toEqual([0])
  expect(received.exchange.mcp?.strayAnswers).toEqual(new Map([['a', 1]]))
})

test('a single target may answer on a stream that its client resumes, and on no other', async () => {
  const { client } = await start({ a: guessing })
  expect((await client.send({ ...listen, headers: { 'last-event-id': '3' } })).messages).toHaveLength(9)
  expect((await client.send(listen)).messages).toEqual([])
  const several = await start({ a: asking, b: guessing })
  const resumed = { ...listen, headers: { 'last-event-id': '3' }, leaves: hasStrays }
  expect((await several.client.send(resumed)).messages).toEqual([])
})

test('a ping of a target on the stream can be answered', async () => {
  const { client, seen } = await start({ a: speaks({ jsonrpc: '2.0', id: 'p', method: 'ping' }), b: withoutStream })
  const { messages } = await client.send({ ...listen, leaves: (text) => text.includes('ping') })
  await client.send({ message: { jsonrpc: '2.0', id: messages[0]?.id, result: {} } })
  expect(seen.at(-1)).toMatchObject({ target: 'a', message: { id: 'p', result: {} } })
})

test('without a stream of any target there is no stream', async () => {
  const { client } = await start({ a: withoutStream, b: withoutStream })
  expect((await client.send(listen)).status).toBe(405)
})

test('a target that cannot be reached fails the stream', async () => {
  const lost: FakeTarget = (call) => (call.method === 'GET' ? { failure: 'connect-failed' } : asking(call))
  const { client } = await start({ a: lost, b: speaks() })
  expect(await client.send(listen)).toMatchObject({ status: 503, exchange: { refusal: 'upstream-failed' } })
})

test('a single target that refuses the stream is passed on', async () => {
  const lost: FakeTarget = (call) => (call.method === 'GET' ? { status: 404, json: {} } : asking(call))
  const { client } = await start({ a: lost }, mcpPlan(['a'], { failureMode: 'FailOpen' }))
  expect((await client.send(listen)).status).toBe(404)
})

test('a notification that concerns nothing of the client is dropped from a list', async () => {
  const cancelling: FakeTarget = target((call) => {
    if (call.message?.method !== 'tools/list') return {}
    return { events: [note('notifications/cancelled', { requestId: 9 }), answer(call, { tools: [{ name: 'x' }] })] }
  })
  const { client } = await start({ a: cancelling, b: cancelling })
  const { messages, text } = await client.request(7, 'tools/list')
  expect(messages).toMatchObject([{ id: 7, result: { tools: [{ name: 'a_x' }, { name: 'b_x' }] } }])
  expect(text.match(/^event: /gm)).toHaveLength(1)
})

test('a stream of a target is given up when the stream of another one is refused', async () => {
  const givenUp: string[] = []
  const opens = (status: number) => target(({ method }) => (method === 'GET' ? { status, events: [] } : {}))
  const { call } = fakeTargets({ a: opens(200), b: opens(500) })
  const client = new TestClient(mcpPlan(['a', 'b']), async (destination, request) => {
    const response = await call(destination, request)
    const pieces = response.body[Symbol.asyncIterator]()
    const giveUp = async () => {
      if (request.method === 'GET') givenUp.push(destination)
      return { done: true, value: undefined } as const
    }
    return { ...response, body: { [Symbol.asyncIterator]: () => ({ next: () => pieces.next(), return: giveUp }) } }
  })
  await client.initialize()
  await client.send({ method: 'GET' })
  expect(givenUp).toEqual([`${MCP_BACKEND}/a`])
})

test('FailOpen: a stream opens without a target that fails, which is noted', async () => {
  const opens = (status: number) => target(({ method }) => (method === 'GET' ? { status, events: [] } : {}))
  const { call } = fakeTargets({ a: opens(200), b: opens(500), c: opens(405) })
  const client = new TestClient(mcpPlan(['a', 'b', 'c'], { failureMode: 'FailOpen' }), call)
  await client.initialize()
  const leaves = (_: string, { mcp }: Exchange) => mcp?.toleratedFailures !== undefined
  const { exchange } = await client.send({ method: 'GET', leaves })
  expect(exchange.mcp?.toleratedFailures).toEqual(['status 500 from target b'])
})

test('FailOpen: a stream opens as soon as one target has one', async () => {
  using _time = new VirtualTime()
  const silent: FakeTarget = (call) => (call.method === 'GET' ? new Promise(() => {}) : asking(call))
  const { client } = await start({ a: silent, b: speaks() }, mcpPlan(['a', 'b'], { failureMode: 'FailOpen' }))
  const received = await client.send({ ...listen, leaves: () => true })
  expect(received.status).toBe(200)
})

test.each([404, 405])(
  'a session has no stream if its only target has no sessions and refuses to listen with %i',
  async (status) => {
    const refused = { status, json: { error: 'no stream' } }
    const sessionless: FakeTarget = ({ message }) => {
      const reply = (result: object) => ({ json: { jsonrpc: '2.0', id: message?.id, result } })
      if (message?.method === 'initialize') return { status: 400 }
      if (message?.method === 'subscriptions/listen') return refused
      return reply({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } })
    }
    const { call } = fakeTargets({ a: sessionless })
    const read: string[] = []
    const client = new TestClient(mcpPlan(['a']), async (destination, request) => {
      const response = await call(destination, request)
      if (response.status !== status) return response
      const body = async function* () {
        yield* response.body
        read.push(destination)
      }
      return { ...response, body: body() }
    })
    await client.initialize()
    const received = await client.send({ method: 'GET' })
    expect([received.status, received.headers.allow, received.text]).toEqual([
      405,
      'POST, DELETE',
      'method not allowed',
    ])
    // Its connection can be used again.
    expect(read).toEqual([`${MCP_BACKEND}/a`])
  },
)

const DENY_SECRET = { action: 'Deny', policy: { matchExpressions: ['mcp.tool.name == "secret"'] } } as const

test.each<[what: string, plan: McpPlan]>([
  ['rules', compileTestMcp({ targets: [{ name: 'a' }] }, [{ authorization: DENY_SECRET }]).plan],
  ['pins', mcpPlan(['a'], { toolPinning: {} })],
])('with %s, a client cannot fetch the list of the only target by an event id that it makes up', async (_, plan) => {
  const list = { jsonrpc: '2.0', id: 5, result: { tools: [{ name: 'secret' }, { name: 'x' }] } }
  const answered = { jsonrpc: '2.0', id: 7, result: { content: [] } }
  // It sends again what it sent after an event, of whatever stream.
  const again = target((call) => {
    if (call.method === 'GET') return { events: [list, answered] }
    if (call.message?.method === 'tools/list') return { json: { ...list, id: call.message.id } }
    return { events: ['id: 41\ndata: \n\n'] }
  })
  const { client, seen } = await start({ a: again }, plan)
  const { messages, exchange } = await client.send({ method: 'GET', headers: { 'last-event-id': '40' } })
  expect(messages).toEqual([])
  expect(exchange.mcp?.strayAnswers?.get('a')).toBe(2)
  // Its own call can be continued.
  await client.request(6, 'tools/list')
  const { text } = await client.request(7, 'tools/call', { name: 'x' })
  const lastEventId = /^id: (.+)$/m.exec(text)?.[1] ?? ''
  expect(lastEventId).toMatch(/^[\w-]{64,}$/)
  expect((await client.send({ method: 'GET', headers: { 'last-event-id': lastEventId } })).messages).toEqual([answered])
  expect(seen.at(-1)?.headers['last-event-id']).toBe('41')
})

test.each(['FailOpen', 'FailClosed'] as const)(
  '%s: while a backend has no targets, a client is told when there are some again, and may end its session',
  async (failureMode) => {
    const memory = new McpMemory()
    const { client } = await start({ a: asking })
    const left = client.with({ memory }, mcpPlan([], { failureMode }))
    left.sessionId = client.sessionId
    let isTold = false
    const tellOf = (names: readonly string[]) => () => {
      if (!isTold) memory.streams.replaced(MCP_BACKEND, names)
      isTold = true
      return false
    }
    const { status, messages } = await left.send({ method: 'GET', leaves: tellOf(['a']) })
    const changes = ['tools', 'prompts', 'resources'].map((list) => note(`notifications/${list}/list_changed`))
    expect([status, messages]).toEqual([200, changes])
    const { status: listed } = await left.request(1, 'tools/list')
    expect(listed).toBe(failureMode === 'FailClosed' ? 503 : 200)
    expect((await left.send({ method: 'DELETE' })).status).toBe(204)
    expect((await client.request(1, 'tools/list')).status).toBe(404)
  },
)

test.each<[method: string, target: string]>([
  ['POST', '/mcp'],
  ['GET', '/sse'],
  ['POST', '/sse?sessionId=x'],
  ['PUT', '/mcp'],
])('FailClosed: %s %s needs a target', async (method, path) => {
  const client = new TestClient(mcpPlan([]), fakeTargets({}).call)
  const { status, exchange } = await client.send({ method, target: path, leaves: () => true })
  expect([status, exchange.refusal]).toEqual([503, 'mcp-targets-unavailable'])
})

test('event ids of any characters continue streams', async () => {
  const event = 'id: é€1\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n'
  const asBytes = 'Ã©â\u0082¬1'
  const idIn = (text: string) => /^id: (.+)$/m.exec(text)?.[1]

  // A client gets the id of the only target, and returns it as UTF-8.
  const one = await start({ a: speaks(event) })
  expect(idIn((await one.client.send(listen)).text)).toBe('é€1')
  await one.client.send({ ...listen, headers: { 'last-event-id': asBytes } })
  expect(one.seen.at(-1)?.headers['last-event-id']).toBe(asBytes)

  // With several, the client gets sealed ids, and the gateway itself opens streams again.
  const several = await start({ a: speaks(event), b: withoutStream })
  const again = () => several.seen.filter(({ headers }) => headers['last-event-id'] === asBytes).length
  const { text } = await several.client.send({ ...listen, leaves: () => again() > 0 })
  const before = again()
  const returns = { ...listen, headers: { 'last-event-id': idIn(text) }, leaves: () => again() > before }
  expect((await several.client.send(returns)).status).toBe(200)
})

test('the task of a message has the id that its receiver knows', async () => {
  const meta = (taskId: string) => ({ _meta: { 'io.modelcontextprotocol/related-task': { taskId }, own: 1 } })
  const working: FakeTarget = target((call) => {
    if (call.message?.method !== 'tools/call') return {}
    const asked = { jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: { message: 'sure?', ...meta('t1') } }
    return { events: [note('notifications/message', { data: 1, ...meta('t1') }), asked, answer(call, meta('t1'))] }
  })
  const several = await start({ a: working, b: working })
  const { messages } = await several.client.request(7, 'tools/call', { name: 'b_x' })
  expect(messages).toMatchObject([{ params: meta('b+t1') }, { params: meta('b+t1') }, { id: 7, result: meta('b+t1') }])
  several.seen.length = 0
  const reply = (result: object) => several.client.send({ message: { jsonrpc: '2.0', id: messages[1]?.id, result } })
  await reply({ action: 'accept', ...meta('b+t1') })
  expect(several.seen.map(({ target, message }) => [target, message])).toEqual([
    ['b', { jsonrpc: '2.0', id: 1, result: { action: 'accept', ...meta('t1') } }],
  ])

  const one = await start({ a: working })
  const own = await one.client.request(7, 'tools/call', { name: 'x' })
  expect(own.messages).toMatchObject([{ params: meta('t1') }, { params: meta('t1') }, { id: 7, result: meta('t1') }])
})

test('a task of the client itself keeps its id', async () => {
  const meta = (taskId: string) => ({ _meta: { 'io.modelcontextprotocol/related-task': { taskId } } })
  for (const taskId of ['mine', 'a+mine']) {
    const { client, seen } = await start({ a: asking, b: asking })
    const { id } = await askedBy(client, 'b_x')
    await client.send({ message: { jsonrpc: '2.0', id, result: meta(taskId) } })
    expect(seen.at(-1)).toMatchObject({ target: 'b', message: { result: meta(taskId) } })
  }
})

test.each([[['a']], [['a', 'b']]])(
  'the client hears nothing of resources and tasks that rules hide: %j',
  async (names) => {
    const rules = {
      action: 'Deny',
      policy: { matchExpressions: ['mcp.resource.name == "m://secret"', 'mcp.task.name == "secret"'] },
    } as const
    const { plan } = compileTestMcp({ targets: names.map((name) => ({ name })) }, [{ authorization: rules }])
    const updated = (uri: string) => note('notifications/resources/updated', { uri })
    const status = (taskId: string) => note('notifications/tasks/status', { taskId, status: 'working' })
    const telling = speaks(updated('m://secret'), status('secret'), updated('m://x'), status('x'))
    const { client } = await start({ a: telling, ...(names.length > 1 && { b: withoutStream }) }, plan)
    const { messages } = await client.send({ ...listen, leaves: (text) => text.includes('tasks/status') })
    const prefix = names.length > 1 ? 'a+' : ''
    expect(messages).toEqual([updated(`${prefix}m://x`), status(`${prefix}x`)])
  },
)
