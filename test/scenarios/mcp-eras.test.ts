import { randomUUID } from 'node:crypto'
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listen, type Upstream } from '#examples/upstreams/listen.ts'
import { startMcpGateway } from '#test/interop/mcp/mcp-gateway.ts'
import { connectTypescript2 } from '#test/interop/mcp/sdks/typescript/client-2.ts'
import { eventually } from '#test/support/eventually.ts'
import type { TestMessage } from '#test/support/fake-targets.ts'
import { startGateway } from '#test/support/gateway.ts'
import { type Posted, post, postModern } from '#test/support/mcp-post.ts'
import {
  answerModern,
  answerSession,
  type RawCall,
  type RawTarget,
  startRawTarget,
} from '#test/support/raw-mcp-target.ts'

/** Clients and targets of different eras at a running gateway with two workers; the targets break the protocol, too. */

const stops = new AsyncDisposableStack()
let modern: RawTarget
let legacy: RawTarget
let base: string

beforeAll(async () => {
  modern = await startRawTarget(answerAsModern)
  stops.defer(modern.close)
  legacy = await startRawTarget(answerAsLegacy)
  stops.defer(legacy.close)
  const backends = { modern: { modern: modern.port }, legacy: { legacy: legacy.port } }
  const { port } = await startMcpGateway(stops, backends, { start: startGateway })
  base = `http://127.0.0.1:${port}`
})

afterAll(() => stops.disposeAsync())

function answerAsModern(call: RawCall): void {
  const { message, event, json, end } = call
  if (answerModern(call)) return
  const { id, params = {} } = message
  if (message.method === 'subscriptions/listen') return
  if (params.name === 'wait') {
    return event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'begun' } })
  }
  if (params.name === 'refuse') {
    return json({ jsonrpc: '2.0', id, error: { code: -32602, message: 'no such thing', data: { at: 1 } } }, 400)
  }
  end(500)
}

/** Calls that wait for a response of the client, by the id of their request, which is that of the call. */
const asked = new Map<unknown, RawCall>()

function answerAsLegacy(call: RawCall): unknown {
  const { message, event, json, end } = call
  const { id, params, method } = message
  if (method === undefined && asked.has(id)) {
    const waiting = asked.get(id)!
    waiting.event({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: JSON.stringify(message.result) }] } })
    waiting.end()
    return end()
  }
  if (answerSession(call)) return
  if (call.method === 'GET') return end(405)
  if (params?.name === 'flood') {
    for (let i = 0; i < 1000; i++) event({ jsonrpc: '2.0', id: `f${i}`, method: 'sampling/createMessage', params: {} })
    return event({ jsonrpc: '2.0', id, result: { content: [] } })
  }
  if (params?.name === 'wait')
    return event({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } })
  if (params?.name === 'garbage') return json([])
  asked.set(id, call)
  return event({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { message: 'Which colour?' } })
}

const call = (id: number, name: string) => ({ id, method: 'tools/call', params: { name, arguments: {} } })

/** A client of the legacy era, with a session. */
async function begin(): Promise<(message: TestMessage) => Promise<Posted>> {
  const capabilities = { elicitation: {}, sampling: {} }
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } }
  const accept = 'application/json, text/event-stream'
  const response = await fetch(`${base}/modern`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  })
  await response.text()
  const headers = { 'mcp-session-id': response.headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-11-25' }
  return (message) => post(`${base}/modern`, message, { headers })
}

test('a cancellation in a session closes the stream of a target without sessions', async () => {
  const send = await begin()
  const pending = send(call(41, 'wait'))
  const { closed } = await eventually('the target has the call', () =>
    modern.calls.find(({ message }) => message.id === 41),
  )
  await send({ method: 'notifications/cancelled', params: { requestId: 41 } })
  await closed
  expect((await pending).messages).toMatchObject([{ method: 'notifications/message' }])
})

test('an error of a target with an error status is an error of the protocol for a client with a session', async () => {
  const answer = await (await begin())(call(42, 'refuse'))
  expect(answer.status).toBe(200)
  expect(answer.messages).toEqual([
    { jsonrpc: '2.0', id: 42, error: { code: -32602, message: 'no such thing', data: { at: 1 } } },
  ])
})

const ASKABLE = { capabilities: { elicitation: {} } }
const sendModern = (message: TestMessage, options: Parameters<typeof postModern>[2] = ASKABLE) =>
  postModern(`${base}/legacy`, message, options)

function continued(id: number, name: string, { messages }: Posted, input: object): TestMessage {
  const { requestState } = messages.at(-1)?.result ?? {}
  return { ...call(id, name), params: { ...call(id, name).params, requestState, inputResponses: { input } } }
}

test('calls of clients without sessions are continued by whichever worker gets the answer', async () => {
  const ids = Array.from({ length: 12 }, (_, index) => 100 + index)
  const rounds = await Promise.all(ids.map((id) => sendModern(call(id, 'ask'))))
  expect(rounds.map(({ messages }) => messages.at(-1)?.result?.resultType)).toEqual(ids.map(() => 'input_required'))
  const answers = ids.map((id, index) => {
    const input = { action: 'accept', content: { id } }
    return sendModern(continued(1000 + id, 'ask', rounds[index]!, input))
  })
  const texts = (await Promise.all(answers)).map(({ messages }) => messages.at(-1)!)
  expect(texts).toEqual(
    ids.map((id) => ({
      jsonrpc: '2.0',
      id: 1000 + id,
      result: {
        resultType: 'complete',
        content: [{ type: 'text', text: JSON.stringify({ action: 'accept', content: { id } }) }],
      },
    })),
  )
})

test('a client without sessions that closes its stream cancels its call', async () => {
  const leave = new AbortController()
  const pending = sendModern(call(61, 'wait'), { ...ASKABLE, signal: leave.signal }).catch(() => 'left')
  const { headers } = await eventually('the target has the call', () =>
    legacy.calls.find(({ message }) => message.id === 61 && message.method === 'tools/call'),
  )
  leave.abort()
  expect(await pending).toBe('left')
  const session = headers['mcp-session-id']
  const end = await eventually('the session ends', () => {
    const own = legacy.calls.filter((one) => one.headers['mcp-session-id'] === session)
    return own.some(({ method }) => method === 'DELETE') ? own : undefined
  })
  expect(end.slice(-2).map(({ method, message }) => message.method ?? method)).toEqual([
    'notifications/cancelled',
    'DELETE',
  ])
  expect(end.at(-2)?.message.params).toEqual({ requestId: 61 })
})

test('a target that is gone when the answer arrives fails the call', async () => {
  let target: RawTarget | undefined
  target = await startRawTarget(answerAsLegacy)
  stops.defer(() => target?.close())
  const { port } = await startMcpGateway(stops, { gone: { gone: target.port } }, { start: startGateway })
  const url = `http://127.0.0.1:${port}/gone`
  const first = await postModern(url, call(62, 'ask'), ASKABLE)
  expect(first.messages).toMatchObject([{ result: { resultType: 'input_required' } }])
  await target.close()
  target = undefined
  const second = await postModern(url, continued(63, 'ask', first, { action: 'cancel' }), ASKABLE)
  expect(second).toMatchObject({ status: 503, messages: [{ id: 63, error: { code: -32603 } }] })
  const third = await postModern(url, continued(64, 'ask', first, { action: 'cancel' }), ASKABLE)
  expect(third.messages).toMatchObject([{ id: 64, error: { code: -32602 } }])
})

test('a target that floods a client with requests is refused each, and completes', async () => {
  const { messages } = await sendModern(call(65, 'flood'))
  expect(messages).toEqual([{ jsonrpc: '2.0', id: 65, result: { content: [], resultType: 'complete' } }])
})

test('a target that sends garbage fails the call', async () => {
  expect((await sendModern(call(66, 'garbage'))).messages).toMatchObject([{ id: 66, error: { code: -32603 } }])
})

/** A server made with the official SDK 1.x, with a tool that is a task only. */
function startTaskServer(): Promise<Upstream> {
  const taskStore = new InMemoryTaskStore()
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const build = () => {
    const capabilities = { tasks: { requests: { tools: { call: {} } } } }
    const server = new McpServer({ name: 'tasks', version: '1.0.0' }, { capabilities, taskStore })
    server.experimental.tasks.registerToolTask(
      'job',
      { description: 'Works', execution: { taskSupport: 'required' } },
      {
        createTask: async ({ taskStore: store }) => {
          const task = await store.createTask({ ttl: 60_000 })
          void store.storeTaskResult(task.taskId, 'completed', { content: [{ type: 'text', text: 'worked' }] })
          return { task }
        },
        getTask: ({ taskStore: store, taskId }) => store.getTask(taskId),
        getTaskResult: async ({ taskStore: store, taskId }) => (await store.getTaskResult(taskId)) as never,
      },
    )
    return server
  }
  return listen({ name: 'tasks', port: 0 }, () => async (request, response) => {
    const id = request.headers['mcp-session-id']
    let transport = sessions.get(String(id))
    if (transport === undefined) {
      const opened = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void sessions.set(session, opened),
      })
      await build().connect(opened as Transport)
      transport = opened
    }
    return transport.handleRequest(request, response)
  })
}

test('a client of the SDK 2.x calls a tool of the SDK 1.x that is a task only', async () => {
  const server = await startTaskServer()
  stops.defer(server.close)
  const { port } = await startMcpGateway(stops, { tasks: { tasks: server.port } }, { start: startGateway })
  const session = await connectTypescript2(`http://127.0.0.1:${port}/tasks`, 'auto')
  expect(await session.call('job', {})).toBe('worked')
  await session.close()
})
