import { expect, test } from 'vitest'
import { fakeTargets, TestClient, target } from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { McpMemory } from '../request/mcp-memory.ts'

/** A target that answers calls and opens streams only when it is told to. */
async function start() {
  const released = Promise.withResolvers<void>()
  let waiting = 0
  const slow = target(async ({ message, method }) => {
    waiting++
    await released.promise
    if (method === 'GET') return { events: [] }
    return { json: { jsonrpc: '2.0', id: message?.id, result: { content: [] } } }
  })
  const { call } = fakeTargets({ slow })
  const memory = new McpMemory()
  const connect = async () => {
    const client = new TestClient(mcpPlan(['slow']), call, { memory })
    await client.initialize()
    return client
  }
  return { connect, release: released.resolve, waiting: () => waiting }
}

test('the request that is one too many is refused, and other sessions are served', async () => {
  const { connect, release, waiting } = await start()
  const [client, other] = [await connect(), await connect()]
  const calls = Array.from({ length: 1000 }, (_, id) => client.request(id, 'tools/call', { name: 'x' }))
  const { status, messages, exchange } = await client.request(1000, 'tools/call', { name: 'x' })
  expect([status, messages, exchange.refusal]).toEqual([
    200,
    [{ jsonrpc: '2.0', id: 1000, error: { code: -32_000, message: 'Too many requests in flight' } }],
    'mcp-session-busy',
  ])
  const served = other.request(1, 'tools/call', { name: 'x' })
  release()
  for (const { messages } of [...(await Promise.all(calls)), await served]) expect(messages[0]?.result).toBeDefined()
  expect(waiting()).toBe(1001)
  expect((await client.request(1001, 'tools/call', { name: 'x' })).messages[0]?.result).toBeDefined()
})

test('the stream that is one too many is refused', async () => {
  const { connect, release } = await start()
  const client = await connect()
  const streams = Array.from({ length: 64 }, () => client.send({ method: 'GET' }))
  const { status, headers, exchange } = await client.send({ method: 'GET' })
  expect([status, headers['retry-after'], exchange.refusal]).toEqual([429, '1', 'mcp-session-busy'])
  release()
  await Promise.all(streams)
  expect((await client.send({ method: 'GET' })).status).toBe(200)
})
