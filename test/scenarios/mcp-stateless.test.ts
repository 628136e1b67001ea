import { afterAll, beforeAll, expect, test } from 'vitest'
import { startMcpGateway } from '#test/interop/mcp/mcp-gateway.ts'
import { runScenarios, SCENARIOS } from '#test/interop/mcp/sdks/scenarios.ts'
import { connectTypescript1 } from '#test/interop/mcp/sdks/typescript/client-1.ts'
import { startTypescript1 } from '#test/interop/mcp/sdks/typescript/server-1.ts'
import { eventually } from '#test/support/eventually.ts'
import { startGateway } from '#test/support/gateway.ts'
import { type Posted, post } from '#test/support/mcp-post.ts'
import {
  answerModern,
  answerSession,
  type RawCall,
  type RawTarget,
  startRawTarget,
} from '#test/support/raw-mcp-target.ts'

/** Clients without sessions (`sessionRouting: Stateless`) of a running gateway with two workers: cancellation, and targets that ask. */

const stops = new AsyncDisposableStack()
let legacy: RawTarget
let modern: RawTarget
let base: string

beforeAll(async () => {
  const sdk = await startTypescript1()
  stops.defer(sdk.close)
  legacy = await startRawTarget(answerLegacy)
  stops.defer(legacy.close)
  modern = await startRawTarget(answerAsModern)
  stops.defer(modern.close)
  const backends = { sdk: { sdk: sdk.port }, legacy: { legacy: legacy.port }, modern: { modern: modern.port } }
  const { port } = await startMcpGateway(stops, backends, { sessionRouting: 'Stateless', start: startGateway })
  base = `http://127.0.0.1:${port}`
})

afterAll(() => stops.disposeAsync())

const says = (text: string) => ({ content: [{ type: 'text', text }] })
const progress = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'begun' } }

/** Resolves with what the target gets as the response to its request. */
let answered = Promise.withResolvers<RawCall>()

function answerLegacy(call: RawCall): void {
  const { message, event, json, end } = call
  if (message.method === undefined && message.id === 'asked') {
    end()
    return answered.resolve(call)
  }
  if (answerSession(call)) return
  const { id } = message
  if (message.params?.name === 'ask') {
    event({ jsonrpc: '2.0', id: 'asked', method: message.params.arguments, params: {} })
    void answered.promise.then(({ message: { error, result } }) => {
      event({ jsonrpc: '2.0', id, result: says(JSON.stringify(error?.code ?? result)) })
      end()
    })
  } else if (message.params?.name === 'wait') event(progress)
  else json({ jsonrpc: '2.0', id, result: says('done') })
}

function answerAsModern(call: RawCall): void {
  const { message, event, json } = call
  if (answerModern(call)) return
  const { id, params = {} } = message
  const needs = (method: string, more: object = {}) => {
    const inputRequests = { one: { method, params: {} } }
    json({ jsonrpc: '2.0', id, result: { resultType: 'input_required', inputRequests, ...more } })
  }
  if (params.name === 'wait') event(progress)
  else if (params.inputResponses !== undefined) {
    json({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...says(JSON.stringify(params.inputResponses)) } })
  } else needs(params.name === 'elicit' ? 'elicitation/create' : 'sampling/createMessage')
}

const call = (id: number, name: string, values: unknown = {}) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: values },
})
const cancel = (requestId: number) => ({ method: 'notifications/cancelled', params: { requestId } })

test('the official SDK lists, calls, gets progress, cancels, and gets a response whose stream the target ends early', async () => {
  const url = `${base}/sdk`
  const cannot = { elicitation: 'not asked', sampling: 'not asked' }
  const ok = Object.fromEntries(SCENARIOS.map((scenario) => [scenario, 'ok']))
  expect(await runScenarios(() => connectTypescript1(url), { url }, cannot)).toEqual({ ...ok, ...cannot })
})

const waiting = (target: RawTarget, id: number) =>
  eventually('the target has the call', () =>
    target.calls.find(({ message }) => message.id === id && message.method === 'tools/call'),
  )

const since = (target: RawTarget, from: number) => target.seen.slice(from)

test('a cancellation reaches a target with sessions, whichever worker receives it', async () => {
  const from = legacy.calls.length
  const pending = post(`${base}/legacy`, call(21, 'wait'))
  await waiting(legacy, 21)
  for (let i = 0; i < 8; i++) expect((await post(`${base}/legacy`, cancel(21))).status).toBe(202)
  expect((await pending).messages).toEqual([progress])
  await eventually('the session ends', () => since(legacy, from).includes('DELETE'))
  expect(since(legacy, from)).toEqual([
    'initialize',
    'notifications/initialized',
    'tools/call',
    'notifications/cancelled',
    'DELETE',
  ])
})

test('a cancellation closes the stream of a target without sessions', async () => {
  const pending = post(`${base}/modern`, call(22, 'wait'))
  const { closed } = await waiting(modern, 22)
  await post(`${base}/modern`, cancel(22))
  await closed
  expect((await pending).messages).toEqual([progress])
})

test('a client that closes its stream cancels its call', async () => {
  const from = legacy.calls.length
  const leave = new AbortController()
  const pending = post(`${base}/legacy`, call(23, 'wait'), { signal: leave.signal }).catch(() => 'left')
  await waiting(legacy, 23)
  leave.abort()
  expect(await pending).toBe('left')
  await eventually('the session ends', () => since(legacy, from).includes('DELETE'))
  const cancelled = legacy.calls.slice(from).find(({ message }) => message.method === 'notifications/cancelled')
  expect(cancelled?.message.params).toEqual({ requestId: 23 })
  expect(since(legacy, from).indexOf('notifications/cancelled')).toBeLessThan(since(legacy, from).indexOf('DELETE'))
})

test('a cancellation that could mean the calls of two clients cancels neither; one of another program none', async () => {
  const leave = new AbortController()
  const { signal } = leave
  const pending = [1, 2].map(() => post(`${base}/modern`, call(24, 'wait'), { signal }).catch(() => 'left'))
  const both = () => modern.calls.filter(({ message }) => message.id === 24 && message.method === 'tools/call')
  const calls = await eventually('the target has both calls', () => (both().length === 2 ? both() : undefined))
  const states = calls.map(({ closed }) => ({ isClosed: false, closed }))
  for (const state of states) void state.closed.then(() => (state.isClosed = true))
  await post(`${base}/modern`, cancel(24))
  await post(`${base}/modern`, cancel(24), { headers: { 'user-agent': 'another' } })
  await post(`${base}/modern`, call(25, 'elicit'))
  expect(states.map(({ isClosed }) => isClosed)).toEqual([false, false])
  leave.abort()
  expect(await Promise.all(pending)).toEqual(['left', 'left'])
  await Promise.all(calls.map(({ closed }) => closed))
})

const textOf = ({ messages }: Posted) =>
  (messages.at(-1)?.result as ReturnType<typeof says> | undefined)?.content[0]?.text

test.each([
  ['elicitation/create', '-32601'],
  ['sampling/createMessage', '-32601'],
  ['roots/list', '-32601'],
  ['x/unknown', '-32601'],
  ['ping', '{}'],
])('%s of a target is answered at once: %s', async (method, text) => {
  answered = Promise.withResolvers()
  const asked = await post(`${base}/legacy`, call(30, 'ask', method))
  expect(textOf(asked)).toBe(text)
  expect(asked.messages).toHaveLength(1)
  const response = await answered.promise
  expect(response.headers['mcp-session-id']).toBe(
    legacy.calls.findLast(({ message }) => message.method === 'tools/call')?.headers['mcp-session-id'],
  )
})

test('a target without sessions that asks is told that the user has cancelled, and gets no model', async () => {
  expect(textOf(await post(`${base}/modern`, call(31, 'elicit')))).toBe('{"one":{"action":"cancel"}}')
  const { messages } = await post(`${base}/modern`, call(32, 'sample'))
  expect(messages).toMatchObject([{ id: 32, error: { code: -32603 } }])
})
