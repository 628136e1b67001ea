import { expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { LocalChannels } from '#state/channels.ts'
import { LocalTable } from '#state/shared-table.ts'
import { eventually } from '#test/support/eventually.ts'
import {
  type FakeReply,
  type FakeTarget,
  fakeTargets,
  type Received,
  type SeenCall,
  TestClient,
  type TestMessage,
  type TestRequest,
} from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { testSealer } from '#test/support/test-sealer.ts'
import { McpMemory } from '../request/mcp-memory.ts'
import { BoundedQueue } from '../transport/bounded-queue.ts'

/** Clients without sessions in front of targets with sessions. */

type Said = object | string | 'end'

/** A server with sessions. `tool` gives what it says on the stream of a call, and gets a function that waits for its own requests to be answered. */
class LegacyServer {
  readonly calls: SeenCall[] = []
  readonly #answers = new Map<string | number, PromiseWithResolvers<TestMessage>>()
  readonly #tool: (call: SeenCall, server: LegacyServer) => AsyncGenerator<Said>
  /** Its stream for unsolicited messages, if it has one. */
  unsolicited: BoundedQueue<object | string> | undefined

  readonly #capabilities: object

  constructor(tool: (call: SeenCall, server: LegacyServer) => AsyncGenerator<Said>, capabilities: object) {
    this.#tool = tool
    this.#capabilities = capabilities
  }

  answered(id: string | number): Promise<TestMessage> {
    let answer = this.#answers.get(id)
    if (answer === undefined) {
      answer = Promise.withResolvers()
      this.#answers.set(id, answer)
    }
    return answer.promise
  }

  get seen(): string[] {
    return this.calls.map(({ method, message }) => message?.method ?? (message === undefined ? method : 'response'))
  }

  readonly target: FakeTarget = (call): FakeReply => {
    this.calls.push(call)
    const { method, message } = call
    const { id } = message ?? {}
    if (message?.method === 'server/discover') return { status: 404 }
    if (message?.method === 'initialize') {
      const capabilities = this.#capabilities
      const result = { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'legacy', version: '1' } }
      return { json: { jsonrpc: '2.0', id, result }, headers: { 'mcp-session-id': 'session' } }
    }
    if (method === 'GET') return this.unsolicited === undefined ? { status: 405 } : { events: this.unsolicited.read() }
    if (method === 'DELETE' || id === undefined) return {}
    if (message?.method === undefined) {
      void this.answered(id)
      this.#answers.get(id)!.resolve(message!)
      return {}
    }
    if (message.method === 'tools/list') {
      const tools = [{ name: 'job', inputSchema: {}, execution: { taskSupport: 'required' } }]
      return { json: { jsonrpc: '2.0', id, result: { tools } } }
    }
    if (!['tools/call', 'resources/read', 'tasks/result'].includes(message.method)) {
      return { json: { jsonrpc: '2.0', id, result: {} } }
    }
    return { events: this.#tool(call, this) }
  }
}

const elicitation = (id: string | number, params: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'elicitation/create',
  params: { message: 'Which colour?', ...params },
})
const done = ({ message }: SeenCall, text: unknown) => ({
  jsonrpc: '2.0',
  id: message!.id,
  result: { content: [{ type: 'text', text: JSON.stringify(text) }] },
})

/** Asks once and returns the response. */
async function* asking(call: SeenCall, server: LegacyServer): AsyncGenerator<Said> {
  yield elicitation('q')
  const { result, error } = await server.answered('q')
  yield done(call, result ?? error?.code)
}

const CAPABILITIES = { tools: {}, logging: {}, resources: { subscribe: true } }

/** Clients of the modern era at two workers, with one sealing key. */
function start(tool = asking, capabilities: object = CAPABILITIES) {
  const server = new LegacyServer(tool, capabilities)
  const plan = mcpPlan(['a'])
  const { call } = fakeTargets({ a: server.target })
  const channels: LocalChannels[] = ['w1', 'w2'].map(
    (name, index) =>
      new LocalChannels(name, async ({ name, text, thread }) => {
        const other = channels[1 - index]!
        return thread === undefined || thread === other.thread ? other.deliver(name, text) : false
      }),
  )
  const draining = new AbortController()
  const shared = {
    sealer: testSealer(),
    table: new LocalTable(),
    lasting: () => ({ call, claim: roomFor(0).claim, draining: draining.signal }),
  }
  const memories = [new McpMemory(), new McpMemory()]
  const clients = channels.map(
    (own, at) => new TestClient(plan, call, { ...shared, channels: own, memory: memories[at]! }),
  )
  return { first: clients[0]!, second: clients[1]!, server, memories, channels, draining }
}

const ASKABLE = { elicitation: {} }

interface Request extends Omit<TestRequest, 'message'> {
  readonly capabilities?: object
  readonly params?: Readonly<Record<string, unknown>>
  readonly method?: string
  readonly meta?: object
}

function send(
  client: TestClient,
  id: number,
  { capabilities = ASKABLE, params = {}, meta, ...more }: Request = {},
): Promise<Received> {
  const { method = 'tools/call', ...rest } = more
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '2' },
    ...meta,
  }
  const all = { ...(method === 'tools/call' && { name: 'x', arguments: { a: 1 } }), ...params, _meta }
  const { name: named, uri, taskId } = all as { name?: string; uri?: string; taskId?: string }
  const name = named ?? uri ?? taskId
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': name }),
  }
  return client.send({ ...rest, headers, message: { jsonrpc: '2.0', id, method, params: all } })
}

const resultOf = ({ messages }: Received) => messages.at(-1)?.result as Record<string, unknown> | undefined
const stateOf = (received: Received) => resultOf(received)?.requestState as string
const textOf = (received: Received) => (resultOf(received)?.content as { text: string }[] | undefined)?.[0]?.text
const RED = { action: 'accept', content: { colour: 'red' } }
const answer = (requestState: string, input: unknown = RED) => ({ params: { requestState, inputResponses: { input } } })

test('a request of a target becomes a result, and any worker continues the call', async () => {
  const { first, second, server, memories, channels } = start()
  const asked = await send(first, 7)
  expect(asked.messages).toEqual([
    {
      jsonrpc: '2.0',
      id: 7,
      result: {
        resultType: 'input_required',
        inputRequests: { input: { method: 'elicitation/create', params: { message: 'Which colour?' } } },
        requestState: expect.stringMatching(/^[\w-]{64,}$/),
      },
    },
  ])
  expect(memories[0]!.held.count).toBe(1)
  const completed = await send(second, 8, answer(stateOf(asked)))
  expect(completed.messages).toMatchObject([{ id: 8, result: { resultType: 'complete' } }])
  expect(textOf(completed)).toBe(JSON.stringify(RED))
  await eventually('the session ends', () => server.seen.includes('DELETE'))
  expect(server.seen.filter((one) => one !== 'server/discover')).toEqual([
    'initialize',
    'notifications/initialized',
    'GET',
    'tools/call',
    'response',
    'DELETE',
  ])
  expect(server.calls.find(({ message }) => message?.method === 'initialize')?.message?.params).toEqual({
    protocolVersion: '2025-11-25',
    capabilities: ASKABLE,
    clientInfo: { name: 'modern', version: '2' },
  })
  expect(server.calls.find(({ message }) => message?.method === 'tools/call')?.message?.params).toEqual({
    name: 'x',
    arguments: { a: 1 },
  })
  expect(server.calls[1]?.headers['mcp-protocol-version']).toBeUndefined()
  expect(new Set(server.calls.slice(2).map(({ headers }) => headers['mcp-protocol-version']))).toEqual(
    new Set(['2025-11-25']),
  )
  expect(new Set(server.calls.slice(2).map(({ headers }) => headers['mcp-session-id']))).toEqual(new Set(['session']))
  expect([memories[0]!.held.count, ...channels.flatMap(({ openChannels }) => openChannels)]).toEqual([0])
})

test('a call may ask again and again; an older state is not valid any more', async () => {
  async function* often(call: SeenCall, server: LegacyServer): AsyncGenerator<Said> {
    const answers: unknown[] = []
    for (const id of [1, '1', 2]) {
      yield elicitation(id, { _meta: { progressToken: 5 } })
      answers.push((await server.answered(id)).result?.content)
    }
    yield done(call, answers)
  }
  const { first, second } = start(often)
  const states = [stateOf(await send(first, 1))]
  for (const [client, id] of [
    [second, 2],
    [first, 3],
  ] as const) {
    states.push(stateOf(await send(client, id, answer(states.at(-1)!, { action: 'accept', content: { id } }))))
  }
  expect((await send(second, 4, answer(states[1]!))).messages).toMatchObject([{ id: 4, error: { code: -32602 } }])
  const last = await send(second, 5, answer(states[2]!, { action: 'accept', content: { id: 5 } }))
  expect(textOf(last)).toBe('[{"id":2},{"id":3},{"id":5}]')
})

test('only one of two requests continues a call', async () => {
  const { first, second } = start()
  const state = stateOf(await send(first, 1))
  const both = await Promise.all([send(first, 2, answer(state)), send(second, 3, answer(state))])
  const outcomes = both.map(({ messages }) => messages.at(-1)?.error?.code ?? 'completed')
  expect(outcomes.toSorted()).toEqual([-32602, 'completed'])
})

test.each([
  ['no inputResponses', undefined],
  ['another key', { other: RED }],
  ['an answer that is no object', { input: 'red' }],
])('a client that has not answered is asked again: %s', async (_, inputResponses) => {
  const { first, second } = start()
  const asked = await send(first, 1)
  const again = await send(second, 2, {
    params: { requestState: stateOf(asked), ...(inputResponses && { inputResponses }) },
  })
  expect(resultOf(again)).toMatchObject({ resultType: 'input_required', inputRequests: resultOf(asked)?.inputRequests })
  expect(textOf(await send(first, 3, answer(stateOf(again))))).toBe(JSON.stringify(RED))
})

const as = (username: string) => (exchange: Exchange) => {
  exchange.identity.basicAuth = { username } as never
}

test('a state is for its caller, item and method only, and expires', async () => {
  const { first } = start(asking)
  const state = stateOf(await send(first, 1, { prepare: as('ann') }))
  const refused = [
    await send(first, 2, { ...answer(state), prepare: as('bob') }),
    await send(first, 3, answer(state)),
    await send(first, 4, { params: { ...answer(state).params, name: 'y' }, prepare: as('ann') }),
    await send(first, 5, {
      method: 'resources/read',
      params: { ...answer(state).params, uri: 'x' },
      prepare: as('ann'),
    }),
  ]
  const later = vi.spyOn(clock, 'now').mockReturnValue(Date.now() + 11 * 60 * 1000)
  refused.push(await send(first, 6, { ...answer(state), prepare: as('ann') }))
  later.mockRestore()
  expect(refused.map(({ status, messages }) => [status, messages[0]?.error?.code])).toEqual(
    Array(5).fill([400, -32602]),
  )
  expect(textOf(await send(first, 7, { ...answer(state), prepare: as('ann') }))).toBe(JSON.stringify(RED))
})

test.each(['made up', 'x'.repeat(200)])('a state of somebody else is refused: %s', async (state) => {
  const { first, server } = start()
  const { messages } = await send(first, 1, answer(state))
  expect(messages).toMatchObject([{ id: 1, error: { code: -32602 } }])
  expect(server.seen).not.toContain('tools/call')
})

test('a call that nobody continues ends, and its target is told', async () => {
  const ends: (() => void)[] = []
  const after = clock.after
  vi.spyOn(clock, 'after').mockImplementation((ms, run) => {
    if (ms === 10 * 60 * 1000) ends.push(run)
    return after(ms, run)
  })
  const { first, server, memories } = start()
  const state = stateOf(await send(first, 9))
  ends[0]!()
  await eventually('the session ends', () => server.seen.includes('DELETE'))
  expect(server.calls.find(({ message }) => message?.method === 'notifications/cancelled')?.message?.params).toEqual({
    requestId: 9,
  })
  expect(memories[0]!.held.count).toBe(0)
  expect((await send(first, 10, answer(state))).messages).toMatchObject([{ error: { code: -32602 } }])
})

test('a worker that stops ends the calls that it holds', async () => {
  const { first, server, draining } = start()
  await send(first, 1)
  draining.abort()
  await eventually('the session ends', () => server.seen.includes('DELETE'))
})

test('calls that wait are bounded for each caller; the target is refused', async () => {
  const { first, memories } = start()
  for (let i = 0; i < 100; i++) expect(stateOf(await send(first, i))).toBeTypeOf('string')
  expect(memories[0]!.held.count).toBe(100)
  expect(textOf(await send(first, 100))).toBe('-32000')
  expect(stateOf(await send(first, 101, { prepare: as('another') }))).toBeTypeOf('string')
})

test.each<[string, object, object]>([
  ['elicitation, which the client has not declared', {}, elicitation('q')],
  ['elicitation of a URL', { elicitation: {} }, elicitation('q', { mode: 'url', url: 'https://a.example' })],
  ['elicitation of a form', { elicitation: { url: {} } }, elicitation('q')],
  [
    'sampling with tools',
    { sampling: {} },
    { jsonrpc: '2.0', id: 'q', method: 'sampling/createMessage', params: { tools: [] } },
  ],
  ['an unknown method', { elicitation: {}, sampling: {}, roots: {} }, { jsonrpc: '2.0', id: 'q', method: 'x/own' }],
])('a target is refused %s', async (_, capabilities, asked) => {
  async function* tool(call: SeenCall, server: LegacyServer): AsyncGenerator<Said> {
    yield asked
    yield done(call, (await server.answered('q')).error?.code)
  }
  expect(textOf(await send(start(tool).first, 1, { capabilities }))).toBe('-32601')
})

test('sampling, roots and a ping', async () => {
  async function* tool(call: SeenCall, server: LegacyServer): AsyncGenerator<Said> {
    yield { jsonrpc: '2.0', id: 'p', method: 'ping' }
    expect(await server.answered('p')).toMatchObject({ result: {} })
    yield { jsonrpc: '2.0', id: 's', method: 'sampling/createMessage', params: { maxTokens: 1 } }
    yield { jsonrpc: '2.0', id: 'r', method: 'roots/list' }
    yield done(call, [(await server.answered('s')).result, (await server.answered('r')).result])
  }
  const { first } = start(tool)
  const capabilities = { sampling: {}, roots: {} }
  const sampled = await send(first, 1, { capabilities })
  expect(resultOf(sampled)?.inputRequests).toEqual({
    input: { method: 'sampling/createMessage', params: { maxTokens: 1 } },
  })
  const rooted = await send(first, 2, { capabilities, ...answer(stateOf(sampled), { model: 'm' }) })
  expect(resultOf(rooted)?.inputRequests).toEqual({ input: { method: 'roots/list' } })
  const last = await send(first, 3, { capabilities, ...answer(stateOf(rooted), { roots: [] }) })
  expect(textOf(last)).toBe('[{"model":"m"},{"roots":[]}]')
})

test('a target may ask on its stream for unsolicited messages', async () => {
  async function* tool(call: SeenCall, server: LegacyServer): AsyncGenerator<Said> {
    void server.unsolicited?.put(elicitation('q'))
    yield done(call, (await server.answered('q')).result)
  }
  const { first, server } = start(tool)
  server.unsolicited = new BoundedQueue(10)
  const asked = await send(first, 1)
  expect(textOf(await send(first, 2, answer(stateOf(asked))))).toBe(JSON.stringify(RED))
})

test('progress has the token of the request that the client has open; log messages are as the request wants', async () => {
  const progress = (progressToken: unknown, at: number) => ({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken, progress: at },
  })
  const log = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } }
  async function* tool(call: SeenCall, server: LegacyServer): AsyncGenerator<Said> {
    yield progress('t1', 1)
    yield log
    yield elicitation('q')
    await server.answered('q')
    yield progress('t1', 2)
    yield progress('another', 3)
    yield log
    yield { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    yield { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'q' } }
    yield done(call, 'ok')
  }
  const { first, second, server } = start(tool)
  const level = { 'io.modelcontextprotocol/logLevel': 'info' }
  const asked = await send(first, 1, { meta: { progressToken: 't1', ...level } })
  expect(asked.messages.map(({ method }) => method)).toEqual([
    'notifications/progress',
    'notifications/message',
    undefined,
  ])
  expect(server.calls.find(({ message }) => message?.method === 'logging/setLevel')?.message?.params).toEqual({
    level: 'info',
  })
  const { messages } = await send(second, 2, { ...answer(stateOf(asked)), meta: { progressToken: 't2' } })
  expect(messages.map(({ method, params }) => [method, params?.progressToken])).toEqual([
    ['notifications/progress', 't2'],
    [undefined, undefined],
  ])
})

test('errors of the legacy era', async () => {
  const urls = [{ elicitationId: 'e', url: 'https://a.example', message: 'Sign in' }]
  const error = { code: -32042, message: 'URL elicitation required', data: { elicitations: urls } }
  async function* tool({ message }: SeenCall): AsyncGenerator<Said> {
    if (message?.method === 'resources/read') {
      yield {
        jsonrpc: '2.0',
        id: message.id,
        error: { code: -32002, message: 'Resource not found', data: { uri: 'a:b' } },
      }
    } else yield { jsonrpc: '2.0', id: message?.id, error }
  }
  const { first } = start(tool)
  expect(resultOf(await send(first, 1, { capabilities: { elicitation: { url: {} } } }))).toEqual({
    resultType: 'input_required',
    inputRequests: { url0: { method: 'elicitation/create', params: { mode: 'url', ...urls[0] } } },
  })
  expect((await send(first, 2)).messages).toMatchObject([{ error: { code: -32042 } }])
  const read = await send(first, 3, { method: 'resources/read', params: { uri: 'a:b' } })
  expect(read.messages).toMatchObject([{ id: 3, error: { code: -32602, data: { uri: 'a:b' } } }])
})

test('a stream that its target ends early is continued by the gateway', async () => {
  const { server } = start(async function* () {
    yield 'id: 4\nretry: 1\ndata:\n\n'
  })
  const original = server.target
  const { call } = fakeTargets({
    a: (seen) => {
      if (seen.method !== 'GET' || seen.headers['last-event-id'] === undefined) return original(seen)
      expect(seen.headers['last-event-id']).toBe('4')
      return { events: [{ jsonrpc: '2.0', id: 1, result: { content: [] } }] }
    },
  })
  const client = new TestClient(mcpPlan(['a']), call)
  expect((await send(client, 1)).messages).toMatchObject([{ id: 1, result: { content: [], resultType: 'complete' } }])
})

test('discover has what initialize says, and lists have what the modern era adds', async () => {
  const { first } = start()
  expect(resultOf(await send(first, 1, { method: 'server/discover' }))).toEqual({
    resultType: 'complete',
    supportedVersions: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
    capabilities: { tools: {}, logging: {}, resources: { subscribe: true } },
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'legacy', version: '1' } },
    ttlMs: 0,
    cacheScope: 'private',
  })
  expect(resultOf(await send(first, 2, { method: 'tools/list' }))).toMatchObject({
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
  })
})

const TASKS = { ...CAPABILITIES, tasks: { requests: { tools: { call: {} } } } }

test('a tool that is a task only is called as one; the client gets the result of the task', async () => {
  const related = { 'io.modelcontextprotocol/related-task': { taskId: 't' } }
  async function* job(call: SeenCall, server: LegacyServer): AsyncGenerator<Said> {
    const { id, method, params } = call.message!
    if (method === 'tools/call' && params?.task === undefined) return yield done(call, 'no task')
    if (method === 'tools/call')
      return yield { jsonrpc: '2.0', id, result: { task: { taskId: 't', status: 'working' } } }
    expect(params).toEqual({ taskId: 't' })
    yield { jsonrpc: '2.0', method: 'notifications/tasks/status', params: { taskId: 't', status: 'input_required' } }
    yield elicitation('q', { _meta: related })
    const { result } = done(call, (await server.answered('q')).result)
    yield { jsonrpc: '2.0', id, result: { ...result, _meta: { ...related, own: 1 } } }
  }
  const { first, second, server } = start(job, TASKS)
  expect(resultOf(await send(first, 1, { method: 'server/discover' }))?.capabilities).toEqual(CAPABILITIES)
  const asked = await send(first, 2, { params: { name: 'job' } })
  expect(asked.messages).toMatchObject([{ id: 2, result: { resultType: 'input_required' } }])
  expect(resultOf(asked)?.inputRequests).toEqual({
    input: { method: 'elicitation/create', params: { message: 'Which colour?' } },
  })
  const { params } = answer(stateOf(asked))
  const completed = await send(second, 3, { params: { ...params, name: 'job' } })
  expect(completed.messages).toMatchObject([{ id: 3, result: { resultType: 'complete', _meta: { own: 1 } } }])
  expect(resultOf(completed)?._meta).toEqual({ own: 1 })
  expect(textOf(completed)).toBe(JSON.stringify(RED))
  expect(textOf(await send(first, 4))).toBe('"no task"')
  expect(server.seen).not.toContain('tasks/cancel')
  expect(server.seen.filter((one) => one === 'tools/list')).toHaveLength(1)
})

test('a task whose client does not come back is cancelled', async () => {
  async function* job({ message }: SeenCall): AsyncGenerator<Said> {
    if (message?.method === 'tools/call') yield { jsonrpc: '2.0', id: message.id, result: { task: { taskId: 't' } } }
    else yield elicitation('q')
  }
  const { first, server, draining } = start(job, TASKS)
  await send(first, 2, { params: { name: 'job' } })
  draining.abort()
  const cancelled = await eventually('the task is cancelled', () =>
    server.calls.find(({ message }) => message?.method === 'tasks/cancel'),
  )
  expect(cancelled.message?.params).toEqual({ taskId: 't' })
})

test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
  '%s: a client knows no tasks of such targets',
  async (method) => {
    const { first, server } = start(asking, TASKS)
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
    const { messages } = await send(first, 1, { method, params: { taskId: 't' }, capabilities })
    expect(messages).toMatchObject([{ id: 1, error: { code: -32602 } }])
    expect(server.seen).not.toContain(method)
  },
)
