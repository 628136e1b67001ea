import { expect, test, vi } from 'vitest'
import { LocalChannels } from '#state/channels.ts'
import { createInstantMemory } from '#state/instant-memory.ts'
import { LocalTable, type TableEntry } from '#state/shared-table.ts'
import {
  type FakeTarget,
  fakeTargets,
  initializeMessage,
  type SeenCall,
  TestClient,
  target,
} from '#test/support/fake-targets.ts'
import { compileTestMcp, mcpPlan } from '#test/support/mcp-plan.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { McpMemory } from './request/mcp-memory.ts'

/** Requests of one session that two workers serve at the same time. */

const answer = ({ message }: SeenCall, result: object = {}) => ({ jsonrpc: '2.0', id: message?.id, result })

/** A client of a session at each of two workers. What one sets in the shared table, the other knows with the next text of a channel. */
async function start(one: FakeTarget, plan = mcpPlan(['a']), declaration: object = {}) {
  const { call, seen } = fakeTargets({ a: target(one), b: target(one) })
  const memory = createInstantMemory()
  const untold: TableEntry[] = []
  const tables = [0, 1].map(() => new LocalTable((entry) => untold.push(entry), memory))
  const channels: LocalChannels[] = ['w1', 'w2'].map(
    (name, index) =>
      new LocalChannels(name, (sent) => {
        for (const entry of untold.splice(0)) for (const table of tables) table.add(entry)
        return channels[1 - index]!.deliver(sent.name, sent.text)
      }),
  )
  const first = new TestClient(plan, call, { table: tables[0]!, channels: channels[0]! })
  const second = first.with({ table: tables[1]!, channels: channels[1]!, memory: new McpMemory() })
  const { headers } = await first.send({ message: initializeMessage(declaration) })
  first.sessionId = headers['mcp-session-id']
  second.sessionId = first.sessionId
  seen.length = 0
  const names = () =>
    seen.map(({ method, message }) => message?.method ?? (message === undefined ? method : 'response'))
  return { first, second, seen, names }
}

test('of two answers to one request of a target, at two workers at once, one reaches it', async () => {
  const ask = { jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: {} }
  const { first, second, names } = await start((call) => ({ events: [ask, answer(call)] }))
  const { messages } = await first.request(7, 'tools/call', { name: 'x' })
  const message = { jsonrpc: '2.0', id: messages[0]?.id, result: {} }
  const replies = await Promise.all([second.send({ message }), first.send({ message })])
  expect(replies.map(({ status }) => status)).toEqual([202, 400])
  expect(names()).toEqual(['tools/call', 'response'])
})

/** The gateway lists the tools before it calls one that it does not know. */
const KNOWN_TOOLS_ONLY = compileTestMcp({ targets: [{ name: 'a' }] }, [
  { authorization: { action: 'Require', policy: { matchExpressions: ['!mcp.tool.annotations.destructiveHint'] } } },
]).plan

test.each([
  ['is being learnt', 'the same worker'],
  ['is being learnt', 'another worker'],
  ['is unknown', 'the same worker'],
])('a call whose tool %s while %s deletes the session does not reach the target', async (when, where) => {
  const listed = Promise.withResolvers<void>()
  const tools = [{ name: 'x', annotations: { readOnlyHint: true } }]
  const { first, second, names } = await start(async (call) => {
    if (call.message?.method === 'tools/list') await listed.promise
    return call.method === 'DELETE' ? {} : { json: answer(call, { tools }) }
  }, KNOWN_TOOLS_ONLY)
  const called = first.request(7, 'tools/call', { name: 'x' })
  if (when === 'is being learnt') await vi.waitFor(() => expect(names()).toEqual(['tools/list']))
  const deleter = where === 'the same worker' ? first : second
  expect((await deleter.send({ method: 'DELETE' })).status).toBe(204)
  listed.resolve()
  const { status, exchange } = await called
  expect([status, exchange.refusal]).toEqual([404, 'mcp-session-unknown'])
  expect(names()).toEqual(when === 'is unknown' ? ['DELETE'] : ['tools/list', 'DELETE'])
})

test('what begins while its session is deleted, and waits for a target that joins it, reaches no target', async () => {
  const initialised = Promise.withResolvers<void>()
  const begins = vi.fn()
  const plan = mcpPlan(['a', 'b'], { failureMode: 'FailOpen' })
  const { first, second, seen } = await start((call) => ({ json: answer(call) }), plan)
  const result = { protocolVersion: '2025-11-25', capabilities: { tools: {}, logging: {} }, serverInfo: {} }
  const late: FakeTarget = async (call) => {
    if (call.message?.method !== 'initialize') return { json: answer(call) }
    begins()
    if (begins.mock.calls.length === 1) return { failure: 'reset' }
    await initialised.promise
    return { json: answer(call, result), headers: { 'mcp-session-id': 'late' } }
  }
  const targets = fakeTargets({ a: target((call) => ({ json: answer(call) }), { tools: {}, logging: {} }), b: late })
  const [beginner, deleter] = [first, second].map((client) => client.with({ call: targets.call }, plan))
  await beginner!.initialize()
  deleter!.sessionId = beginner!.sessionId
  targets.seen.length = 0
  const begun = [
    beginner!.request(1, 'tools/list'),
    beginner!.request(2, 'logging/setLevel', { level: 'info' }),
    beginner!.request(3, 'tools/call', { name: 'b_x' }),
    beginner!.send({ method: 'GET' }),
  ]
  await vi.waitFor(() => expect(begins).toHaveBeenCalledTimes(2))
  expect((await deleter!.send({ method: 'DELETE' })).status).toBe(204)
  initialised.resolve()
  const ended = await Promise.all(begun)
  // The last one is a stream that ends at once.
  expect(ended.map(({ status, text }) => [status, text.includes('error')])).toEqual([
    [404, false],
    [404, false],
    [404, false],
    [200, false],
  ])
  const reached = targets.seen.map(({ target, method, message }) => `${target} ${message?.method ?? method}`)
  expect(reached).toEqual(['b initialize', 'a DELETE', 'b notifications/initialized', 'b DELETE'])
  expect(seen).toEqual([])
})

test('a target that has lost its session is initialised once for requests at two workers at once', async () => {
  let generation = 1
  const restarted: FakeTarget = async (call) => {
    const { message, headers } = call
    if (message?.method === 'initialize') {
      await new Promise((resolve) => setTimeout(resolve, 20))
      const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: {} }
      return { json: answer(call, result), headers: { 'mcp-session-id': `${generation++}` } }
    }
    const isLost = generation > 1 && headers['mcp-session-id'] !== `${generation - 1}`
    if (message?.method?.startsWith('notifications/')) return {}
    return isLost ? { status: 404 } : { json: answer(call, { by: headers['mcp-session-id'] }) }
  }
  const { first, second } = await start(() => ({}))
  const targets = fakeTargets({ a: restarted })
  const [one, other] = [first, second].map((client) => client.with({ call: targets.call }))
  const begun = await one!.send({ message: initializeMessage(), headers: { 'mcp-session-id': undefined } })
  for (const client of [one!, other!]) client.sessionId = begun.headers['mcp-session-id']
  generation = 3
  targets.seen.length = 0
  const calls = [one!, other!, one!].map((client, id) => client.request(id, 'tools/call', { name: 'x' }))
  const results = (await Promise.all(calls)).map(({ messages }) => messages[0]?.result)
  expect(results).toEqual([{ by: '3' }, { by: '3' }, { by: '3' }])
  expect(targets.seen.filter(({ message }) => message?.method === 'initialize')).toHaveLength(1)
})

test('a worker waits two seconds for another one that initialises a target, and then does it itself', async () => {
  using time = new VirtualTime()
  let isRestarted = false
  const never = new Promise<never>(() => {})
  let begun = 0
  const { first, second } = await start(() => ({}))
  const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: {} }
  const { call } = fakeTargets({
    a: async (asked) => {
      const { message, headers } = asked
      if (message?.method?.startsWith('notifications/')) return {}
      if (message?.method === 'tools/call') {
        return headers['mcp-session-id'] === 'old' ? { status: 404 } : { json: answer(asked) }
      }
      begun++
      if (isRestarted && begun === 2) return never
      return { json: answer(asked, result), headers: { 'mcp-session-id': isRestarted ? 'new' : 'old' } }
    },
  })
  const [one, other] = [first, second].map((client) => client.with({ call }))
  await one!.initialize()
  other!.sessionId = one!.sessionId
  isRestarted = true
  void one!.request(1, 'tools/call', { name: 'x' })
  await time.pass(0)
  const called = other!.request(2, 'tools/call', { name: 'x' })
  await time.pass(1990)
  expect(begun).toBe(2)
  await time.pass(20)
  expect((await called).messages).toMatchObject([{ id: 2, result: {} }])
  expect(begun).toBe(3)
})

/** A target whose stream begins when `opened` is resolved, and never ends by itself. */
function opening(opened: Promise<void>, status?: number): FakeTarget {
  return async (call) => {
    if (call.method !== 'GET') return { json: answer(call) }
    await opened
    return status === undefined ? { events: idle() } : { status }
  }
}

async function* idle(): AsyncGenerator<string> {
  yield ': \n\n'
  await new Promise(() => {})
}

test.each<[when: string, plan: ReturnType<typeof mcpPlan>, status: number | undefined]>([
  ['the target has the stream', mcpPlan(['a']), undefined],
  ['the target refuses it', mcpPlan(['a']), 405],
  ['all targets have the stream', mcpPlan(['a', 'b']), undefined],
])('a call does not overtake a stream that another worker opens: it waits until %s', async (_, plan, status) => {
  using time = new VirtualTime()
  const opened = Promise.withResolvers<void>()
  const { first, second, names } = await start(opening(opened.promise, status), plan)
  void second.send({ method: 'GET', leaves: () => false })
  const gets = plan.targets.map(() => 'GET')
  const called = first.request(7, 'tools/call', { name: plan.multiplexes ? 'a_x' : 'x' })
  await time.pass(200)
  expect(names()).toEqual(gets)
  opened.resolve()
  await time.pass(4)
  expect((await called).status).toBe(200)
  expect(names()).toEqual([...gets, 'tools/call'])
})

test('a call waits for the stream that a client opens when its session has begun, but not for one that does not come', async () => {
  using time = new VirtualTime()
  const { first, second, names } = await start(opening(Promise.resolve()))
  await first.notify('notifications/initialized')
  const called = second.request(7, 'tools/call', { name: 'x' })
  await time.pass(240)
  void first.send({ method: 'GET', leaves: () => false })
  await time.pass(4)
  await called
  expect(names()).toEqual(['notifications/initialized', 'GET', 'tools/call'])

  await first.notify('notifications/initialized')
  const alone = second.request(8, 'tools/call', { name: 'x' })
  await time.pass(248)
  expect(names().at(-1)).toBe('notifications/initialized')
  await time.pass(4)
  await alone
  expect(names().at(-1)).toBe('tools/call')
})

test('a target that does not respond to a GET holds calls up for a quarter of a second', async () => {
  using time = new VirtualTime()
  const { first, second, names } = await start(opening(new Promise(() => {})))
  void second.send({ method: 'GET', leaves: () => false })
  const called = first.request(7, 'tools/call', { name: 'x' })
  await time.pass(248)
  expect(names()).toEqual(['GET'])
  await time.pass(4)
  await called
  expect(names()).toEqual(['GET', 'tools/call'])
})

test('a call of a client that cannot be asked waits for no stream, nor does one beside a continued stream', async () => {
  using _ = new VirtualTime()
  const silent = await start(opening(new Promise(() => {})), mcpPlan(['a']), { capabilities: {} })
  void silent.second.send({ method: 'GET', leaves: () => false })
  await vi.waitFor(() => expect(silent.names()).toEqual(['GET']))
  await silent.first.request(7, 'tools/call', { name: 'x' })
  expect(silent.names()).toEqual(['GET', 'tools/call'])

  const continued = await start(opening(new Promise(() => {})))
  void continued.second.send({ method: 'GET', headers: { 'last-event-id': '7' }, leaves: () => false })
  await vi.waitFor(() => expect(continued.names()).toEqual(['GET']))
  await continued.first.request(7, 'tools/call', { name: 'x' })
  expect(continued.names()).toEqual(['GET', 'tools/call'])
})

test('a call that is cancelled while it waits for a stream does not reach the target', async () => {
  using time = new VirtualTime()
  const { first, second, names } = await start(opening(new Promise(() => {})))
  void second.send({ method: 'GET', leaves: () => false })
  const called = first.request(7, 'tools/call', { name: 'x' })
  await time.pass(10)
  await second.notify('notifications/cancelled', { requestId: 7 })
  await time.pass(300)
  const { status, messages } = await called
  expect([status, messages]).toEqual([200, []])
  expect(names()).toEqual(['GET', 'notifications/cancelled'])
})
