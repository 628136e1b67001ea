import { expect, test } from 'vitest'
import { type FakeTarget, fakeTargets, type SeenCall, TestClient } from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { verifies } from '#test/support/verifies.ts'

const stateless = { sessionRouting: 'Stateless' } as const
const plan = mcpPlan(['a', 'b'], stateless)

/** A target with a session, or without. */
function server(keepsSessions: boolean): FakeTarget {
  return ({ message, target }) => {
    if (message?.id === undefined) return {}
    const capabilities = { tools: { listChanged: true }, logging: {}, resources: { subscribe: true } }
    const initialized = { protocolVersion: '2025-11-25', capabilities }
    const results: Record<string, object> = { initialize: initialized, 'tools/list': { tools: [{ name: 'x' }] } }
    const json = { jsonrpc: '2.0', id: message.id, result: results[message.method ?? ''] ?? {} }
    return { json, headers: keepsSessions ? { 'mcp-session-id': `session of ${target}` } : {} }
  }
}

function start(targets: Readonly<Record<string, FakeTarget>> = { a: server(true), b: server(true) }) {
  const { call, seen } = fakeTargets(targets)
  return { client: new TestClient(plan, call), seen }
}

const describe = ({ target, method, message }: SeenCall) => `${target} ${message?.method ?? method}`

verifies('backend.mcp/stateless', 'a call begins and ends a session with its target alone', async () => {
  const { client, seen } = start()
  const received = await client.request(7, 'tools/call', { name: 'b_x' })
  expect(received.messages).toEqual([{ jsonrpc: '2.0', id: 7, result: {} }])
  expect(received.headers['mcp-session-id']).toBeUndefined()
  expect(seen.map(describe)).toEqual(['b initialize', 'b notifications/initialized', 'b tools/call', 'b DELETE'])
  expect(seen.map(({ headers }) => headers['mcp-session-id'])).toEqual([undefined, ...Array(3).fill('session of b')])
  expect(seen[0]?.message?.params).toMatchObject({ capabilities: {}, clientInfo: { name: 'gatewright' } })
})

verifies('backend.mcp/stateless', 'a list asks all targets; no session is asked of the client', async () => {
  const { client, seen } = start()
  const { messages, exchange } = await client.send({
    message: { jsonrpc: '2.0', id: 7, method: 'tools/list' },
    headers: { 'mcp-session-id': 'whatever', 'mcp-protocol-version': '2025-03-26' },
  })
  expect(messages).toMatchObject([{ result: { tools: [{ name: 'a_x' }, { name: 'b_x' }] } }])
  expect(exchange.mcp?.sessionId).toBeUndefined()
  expect(seen[0]?.message?.params?.protocolVersion).toBe('2025-03-26')
  expect(seen.filter(({ method }) => method === 'DELETE')).toHaveLength(2)
})

test('initialize announces only capabilities that work without a session', async () => {
  const { client, seen } = start()
  const received = await client.initialize()
  expect(received.headers['mcp-session-id']).toBeUndefined()
  expect(received.messages[0]?.result?.capabilities).toEqual({ tools: {}, resources: {} })
  expect(seen.map(describe)).toEqual(['a initialize', 'b initialize', 'a DELETE', 'b DELETE'])
})

test('a target without sessions is not initialised again', async () => {
  const { client, seen } = start({ a: server(false), b: server(true) })
  await client.request(1, 'tools/call', { name: 'a_x' })
  expect(seen.map(describe)).toEqual(['a initialize', 'a tools/call'])
  seen.length = 0
  await client.request(2, 'tools/call', { name: 'a_x' })
  expect(seen.map(describe)).toEqual(['a tools/call'])
})

test('a target that then refuses is initialised again', async () => {
  let refuses = false
  const healthy = server(false)
  const { client, seen } = start({
    a: (call) => (refuses && call.message?.method === 'tools/call' ? { status: 400, json: {} } : healthy(call)),
    b: server(true),
  })
  await client.request(1, 'tools/call', { name: 'a_x' })
  refuses = true
  expect((await client.request(2, 'tools/call', { name: 'a_x' })).status).toBe(400)
  refuses = false
  seen.length = 0
  expect((await client.request(3, 'tools/call', { name: 'a_x' })).status).toBe(200)
  expect(seen.map(describe)).toEqual(['a initialize', 'a tools/call'])
})

test('a target that cannot be reached fails the call', async () => {
  const { client } = start({ a: () => ({ failure: 'connect-failed' }), b: server(true) })
  expect(await client.request(1, 'tools/call', { name: 'a_x' })).toMatchObject({ status: 503, messages: [{ id: 1 }] })
})

test('ping and notifications need no target', async () => {
  const { client, seen } = start()
  expect((await client.request(1, 'ping')).messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  expect((await client.notify('notifications/initialized')).status).toBe(202)
  expect((await client.send({ message: { jsonrpc: '2.0', id: 1, result: {} } })).status).toBe(400)
  expect(seen).toEqual([])
})

test.each(['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])('%s is not offered', async (method) => {
  const { client, seen } = start()
  expect((await client.request(1, method, { uri: 'a+m://x' })).messages).toMatchObject([{ error: { code: -32601 } }])
  expect(seen).toEqual([])
})

test.each(['GET', 'DELETE'])('%s is no method', async (method) => {
  expect(await start().client.send({ method })).toMatchObject({ status: 405, headers: { allow: 'POST' } })
})

test('FailOpen: targets that need no session go on when another one is lost', async () => {
  const open = mcpPlan(['a', 'b'], { ...stateless, failureMode: 'FailOpen' })
  let lost = false
  const b = server(true)
  const { call } = fakeTargets({ a: server(false), b: (seen) => (lost ? { failure: 'reset' } : b(seen)) })
  const client = new TestClient(open, call)
  expect((await client.request(1, 'tools/list')).messages).toMatchObject([{ result: { tools: [{}, {}] } }])
  lost = true
  const { messages, exchange } = await client.request(1, 'tools/list')
  expect(messages).toMatchObject([{ result: { tools: [{ name: 'a_x' }] } }])
  expect([exchange.refusal, exchange.reason]).toEqual([undefined, 'Upstream'])
})

test('sessions are closed when the response is complete', async () => {
  const order: string[] = []
  const b = server(true)
  const { client } = start({
    a: server(true),
    b: (seen) => {
      if (seen.method === 'DELETE') order.push('closed')
      if (seen.message?.method !== 'tools/call') return b(seen)
      const progress = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } }
      return {
        events: (function* () {
          yield progress
          order.push('first')
          yield progress
          order.push('second')
          yield { jsonrpc: '2.0', id: seen.message?.id, result: {} }
        })(),
      }
    },
  })
  await client.request(7, 'tools/call', { name: 'b_x' })
  expect(order).toEqual(['first', 'second', 'closed'])
})
