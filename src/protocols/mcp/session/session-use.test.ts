import { afterEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { TimerWheel } from '#net/timer-wheel.ts'
import { LocalChannels } from '#state/channels.ts'
import { LocalTable } from '#state/shared-table.ts'
import { fakeTargets, TestClient, target } from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { testSealer } from '#test/support/test-sealer.ts'
import { isIdle, keepInUse, noteUse } from './session-use.ts'

afterEach(() => void vi.restoreAllMocks())

const MINUTE_MS = 60_000
const session = { key: 'k1' }

test('a session is idle 31 minutes after its last use', () => {
  const table = new LocalTable()
  noteUse(session, table, 1_000)
  expect(isIdle(session, table, 1_000 + 31 * MINUTE_MS)).toBe(false)
  expect(isIdle(session, table, 1_001 + 31 * MINUTE_MS)).toBe(true)
  noteUse(session, table, 1_000 + 20 * MINUTE_MS)
  expect(isIdle(session, table, 1_000 + 51 * MINUTE_MS)).toBe(false)
  expect(isIdle(session, table, 1_001 + 51 * MINUTE_MS)).toBe(true)
})

test('a session of which the instance knows nothing is not idle', () => {
  expect(isIdle(session, new LocalTable(), 1_000_000_000)).toBe(false)
})

test('other workers are told at most once a minute', () => {
  const told: string[] = []
  const table = new LocalTable(({ value }) => told.push(value))
  for (const ms of [0, 1, 60_000, 60_001, 60_002, 120_002]) noteUse(session, table, ms)
  expect(told).toEqual(['0', '60001', '120002'])
})

test('what lasts counts as use every ten minutes, and when it ends', () => {
  let nowMs = 0
  vi.spyOn(clock, 'now').mockImplementation(() => nowMs)
  vi.spyOn(clock, 'monotonic').mockImplementation(() => nowMs)
  const table = new LocalTable()
  const wheel = new TimerWheel()
  const pass = (ms: number) => {
    nowMs += ms
    wheel.advance()
  }
  noteUse(session, table, nowMs)
  const end = keepInUse(session, table, wheel)
  for (let minute = 0; minute < 65; minute++) pass(MINUTE_MS)
  expect(isIdle(session, table, nowMs)).toBe(false)
  end()
  end()
  pass(31 * MINUTE_MS)
  expect(isIdle(session, table, nowMs)).toBe(false)
  pass(1)
  expect(isIdle(session, table, nowMs)).toBe(true)
})

/** A client whose session all workers with the table know. */
async function begin() {
  const times = { nowMs: Date.UTC(2026, 0, 1) }
  vi.spyOn(clock, 'now').mockImplementation(() => times.nowMs)
  // Calls and streams of the target last.
  const answers = target(({ method, message }) => {
    if (method === 'GET' || message?.method === 'tools/call') times.nowMs += 40 * MINUTE_MS
    return method === 'GET' ? { events: [] } : { json: { jsonrpc: '2.0', id: message?.id, result: {} } }
  })
  const { call } = fakeTargets({ a: answers })
  const plan = mcpPlan(['a'])
  const shared = { sealer: testSealer(), channels: new LocalChannels('w1') }
  const client = new TestClient(plan, call, { ...shared, table: new LocalTable() })
  await client.initialize()
  const restarted = () => {
    const later = new TestClient(plan, call, shared)
    later.sessionId = client.sessionId
    return later
  }
  return { client, times, restarted, status: async () => (await client.request(1, 'ping')).status }
}

test('an idle session is unknown, even one that was never used', async () => {
  const { client, times, status, restarted } = await begin()
  times.nowMs += 31 * MINUTE_MS + 1
  expect(await status()).toBe(404)
  expect((await client.send({ method: 'GET' })).status).toBe(404)
  expect((await restarted().request(1, 'ping')).status, 'a restarted gateway cannot know').toBe(200)
})

test('every use of a session begins its idle time again', async () => {
  const { times, status } = await begin()
  for (let use = 0; use < 5; use++) {
    times.nowMs += 25 * MINUTE_MS
    expect(await status()).toBe(200)
  }
  times.nowMs += 32 * MINUTE_MS
  expect(await status()).toBe(404)
})

test('a long call and a long stream are use', async () => {
  const { client, status } = await begin()
  expect((await client.request(2, 'tools/call', { name: 'x' })).status).toBe(200)
  expect(await status()).toBe(200)
  expect((await client.send({ method: 'GET' })).status).toBe(200)
  expect(await status()).toBe(200)
})
