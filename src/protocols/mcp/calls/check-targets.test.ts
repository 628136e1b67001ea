import { afterEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { type FakeTarget, fakeTargets, TestClient, target } from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { verifies } from '#test/support/verifies.ts'

afterEach(() => void vi.restoreAllMocks())

/** Two targets; while `b` is down, nothing reaches it. */
async function start(failureMode: 'FailOpen' | 'FailClosed') {
  const state = { isDown: false, nowMs: 5_000 }
  vi.spyOn(clock, 'monotonic').mockImplementation(() => state.nowMs)
  const answers = target(({ message }) => ({ json: { jsonrpc: '2.0', id: message?.id, result: {} } }))
  const b: FakeTarget = (call) => (state.isDown ? { failure: 'connection-refused', unreached: true } : answers(call))
  const { call, seen } = fakeTargets({ a: answers, b })
  const client = new TestClient(mcpPlan(['a', 'b'], { failureMode }), call)
  await client.initialize()
  state.isDown = true
  await client.request(1, 'tools/call', { name: 'b_x' })
  seen.length = 0
  const callA = async () => (await client.request(2, 'tools/call', { name: 'a_x' })).status
  return { client, state, seen, callA }
}

verifies(
  'backend.mcp/fail-closed-runtime',
  'FailClosed: every request fails while a target is unreachable',
  async () => {
    const { client, state } = await start('FailClosed')
    const requests: [method: string, params?: object][] = [['tools/call', { name: 'a_x' }], ['tools/list'], ['ping']]
    for (const [method, params] of requests) {
      const { status, messages, exchange } = await client.request(3, method, params)
      expect(status, method).toBe(503)
      const error = { code: -32603, message: 'a target of this session cannot be reached' }
      expect(messages).toEqual([{ jsonrpc: '2.0', id: 3, error }])
      expect(exchange.refusal).toBe('mcp-targets-unavailable')
      expect(exchange.refusalDetail).toBe('target b cannot be reached, and failureMode is FailClosed')
    }
    expect((await client.send({ method: 'DELETE' })).status, 'a session can always be ended').toBe(204)
    state.isDown = false
  },
)

test('one probe a second, which all requests share', async () => {
  const { state, seen, callA } = await start('FailClosed')
  expect(await Promise.all([callA(), callA(), callA()])).toEqual([503, 503, 503])
  expect(seen.map(({ message }) => message?.method)).toEqual(['ping'])
  state.isDown = false
  state.nowMs += 999
  expect(await callA()).toBe(503)
  expect(seen).toHaveLength(1)
  state.nowMs += 1
  expect(await callA()).toBe(200)
  expect(seen.map(({ target: name, message }) => `${name} ${message?.method}`)).toEqual([
    'b ping',
    'b ping',
    'a tools/call',
  ])
})

test('the first request after the failure tries the target at once', async () => {
  const { state, callA } = await start('FailClosed')
  state.isDown = false
  expect(await callA()).toBe(200)
})

test('any response ends the outage', async () => {
  const { client, state, seen, callA } = await start('FailClosed')
  expect(await callA()).toBe(503)
  state.isDown = false
  await client.notify('notifications/progress', { progressToken: 1, progress: 1 })
  await client.notify('notifications/roots/list_changed')
  seen.length = 0
  expect(await callA()).toBe(200)
  expect(seen).toHaveLength(1)
})

test('FailOpen: requests for other targets are served', async () => {
  const { seen, callA } = await start('FailOpen')
  expect(await callA()).toBe(200)
  expect(seen.map(({ target: name }) => name)).toEqual(['a'])
})
