import { expect, test } from 'vitest'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { READS_NOTHING } from '#exchange/llm-reads.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import { RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import { Head } from '#net/http/head.ts'
import type { BodySink } from '#net/stream.ts'
import { NO_KEY_SET } from '#policies/shared/authentication/read-key-set.ts'
import { VerifiedTokens } from '#policies/shared/jwt/verified-tokens.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { SseEventTooLarge, SseParser } from '#protocols/http/sse.ts'
import { observeResponse } from '#protocols/llm/answer/read-response.ts'
import { KeptAnswer } from '#protocols/llm/facts/kept-answer.ts'
import { MemberReader, wantedMembers } from '#protocols/llm/json/member-reader.ts'
import { HeldCalls } from '#protocols/mcp/request/held-calls.ts'
import { noteSetting, subscriptionsOf } from '#protocols/mcp/session/session-settings.ts'
import { NO_SESSION, OpenedSessions } from '#protocols/mcp/session/session-state.ts'
import { announceChange, announceEnd } from '#protocols/mcp/session/session-stream.ts'
import { readNews } from '#protocols/mcp/sse/read-news.ts'
import { LocalChannels } from '#state/channels.ts'
import { LocalTable, MAX_ENTRIES } from '#state/shared-table.ts'
import { type FakeTarget, fakeTargets, TestClient, target } from '#test/support/fake-targets.ts'
import { lastingServices } from '#test/support/lasting-services.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'

/*
 * Every collection that a peer can fill, flooded: it stays within its bound, and within the memory for bodies where it is in that.
 * The list of collections is test/architecture/collections.ts.
 */

const encoder = new TextEncoder()

/** A memory of its own, and the most that was ever held of it. */
function memoryOf(maxBytes: number) {
  const memory = new BodyMemory(maxBytes)
  const change = memory.change.bind(memory)
  let mostBytes = 0
  memory.change = (bytes) => {
    change(bytes)
    mostBytes = Math.max(mostBytes, memory.heldBytes)
  }
  return { memory, claim: new BodyClaim(memory), most: () => mostBytes }
}

test('held-bytes', () => {
  const { claim, most } = memoryOf(10_000)
  const held = new HeldBytes(claim, 4000)
  for (let i = 0; i < 20_000; i++) held.appendWithin(Buffer.from('x'), 0, 1)
  expect([held.length, most()]).toEqual([4000, 4000])
})

test.each(['data: xxxxxxxx', 'data:x\n', 'data\r', 'event: x', ': x'])('sse: %j endlessly', (piece) => {
  const parser = new SseParser(10_000)
  const bytes = encoder.encode(piece)
  const flood = () => {
    for (let i = 0; i < 100_000; i++) {
      parser.push(bytes)
      if (parser.held > 10_000) throw new Error('more than the bound')
    }
  }
  expect(flood).toThrow(SseEventTooLarge)
})

test('member-reader', () => {
  const { claim, memory, most } = memoryOf(50_000)
  const reader = new MemberReader(wantedMembers(['usage']), () => {}, { claim })
  reader.push(encoder.encode('{"usage":"'))
  for (let i = 0; i < 200_000; i++) reader.push(encoder.encode('x'))
  expect(most()).toBeLessThanOrEqual(50_000)
  reader.push(encoder.encode('","usage":1}'))
  expect(memory.heldBytes).toBe(0)
})

test('kept-answer', () => {
  const { claim, most } = memoryOf(30_000)
  const kept = new KeptAnswer({ ...READS_NOTHING, completion: true, toolCalls: true }, 1_000_000)
  kept.areValidFor(claim)
  for (let i = 0; i < 20_000; i++) {
    kept.addText(i, 'text')
    kept.beginCall(i, 'id', 'name')
    kept.addArguments(i, 'arguments')
  }
  expect(most()).toBeLessThanOrEqual(30_000)
  expect(kept.completion.length + kept.toolCalls.length).toBeLessThan(30_000 / 64 + 1)
  expect(kept.isFull).toBe(true)
})

test('stream-answer', () => {
  const { claim, memory, most } = memoryOf(100_000)
  let passed = 0
  const sink: BodySink = {
    backed: false,
    takesFramed: true,
    source: null,
    bytes: (_, start, end) => {
      passed += end - start
    },
    end: () => {},
    abort: () => {},
  }
  const exchange = exchangeWith()
  exchange.llm = { ...NO_LLM }
  exchange.response = Head.response(200)
  exchange.response.set('content-type', 'text/event-stream')
  const filter = observeResponse(
    {
      wire: 'Completions',
      hidesUsage: false,
      kept: undefined,
      translation: undefined,
      native: undefined,
      guards: [],
      account: undefined,
      maxBytes: 2 ** 21,
    },
    exchange,
    { claim, decoding: RESPONSE_DECODING },
  )
  const stream = filter!.into(sink)
  const { concat } = Buffer
  Buffer.concat = () => {
    throw new Error('copies a whole block for each of its pieces')
  }
  try {
    for (let i = 0; i < 300_000; i++) stream.bytes(Buffer.from('x'), 0, 1)
    expect(passed).toBe(300_000)
    stream.bytes(Buffer.from('\n\n'), 0, 2)
    for (let i = 0; i < 50_000; i++) stream.bytes(Buffer.from('y'), 0, 1)
    expect(passed).toBe(300_002)
    stream.bytes(Buffer.from('\n\n'), 0, 2)
  } finally {
    Buffer.concat = concat
  }
  expect(passed).toBe(350_004)
  expect(most()).toBeLessThanOrEqual(100_000)
  expect(memory.heldBytes).toBe(0)
})

const note = (text: string) => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: text },
})

/** Sends this endlessly instead of a response to `initialize`; counts the received copies. */
function talkative(say: (i: number) => object) {
  let said = 0
  const speak: FakeTarget = () => ({
    events: (function* () {
      for (; said < 1_000_000; said++) yield say(said)
    })(),
  })
  return { speak, said: () => said }
}

// As many again may have been read and not taken.
test.each([
  ['long notifications', () => note('x'.repeat(1000)), 600],
  ['short notifications', () => ({ jsonrpc: '2.0', method: 'x' }), 6000],
  ['requests', (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' }), 6000],
])('initialise-targets: %s in place of the answer', async (_, say, most) => {
  const { speak, said } = talkative(say)
  const client = new TestClient(mcpPlan(['a']), fakeTargets({ a: speak }).call)
  const received = await client.initialize()
  expect(received.messages).toMatchObject([{ error: { code: -32603 } }])
  expect(received.exchange.refusalDetail).toBe(
    'target a sent too many messages before its response: the limit is 262144 characters, which no field sets',
  )
  expect(said()).toBeLessThan(most)
})

test('initialise-targets: no more than there is memory for', async () => {
  const { memory, claim, most } = memoryOf(20_000)
  const { speak, said } = talkative(() => note('x'.repeat(1000)))
  const plan = mcpPlan(['a', 'b'], { failureMode: 'FailOpen' })
  const honest = target(() => ({}))
  const { call } = fakeTargets({ a: speak, b: honest })
  // Sessions of targets begin within the memory of what outlasts a client.
  const lasting = () => ({ ...lastingServices(call)(), claim })
  const client = new TestClient(plan, call, { lasting })
  const received = await client.initialize()
  expect(received.messages.at(-1)).toMatchObject({ result: { serverInfo: { name: 'gatewright' } } })
  expect(received.exchange.refusalDetail).toContain('no memory is left for the response of the target: ')
  expect([said() < 30, most() <= 20_000]).toEqual([true, true])
  claim.release()
  expect(memory.heldBytes).toBe(0)
})

test('fan-out: answers of many targets, each of them small enough', async () => {
  const tools = [{ name: 'x', description: 'x'.repeat(30_000) }]
  const large = target(({ message }) => ({ events: [{ jsonrpc: '2.0', id: message?.id, result: { tools } }] }))
  const { claim, most } = memoryOf(100_000)
  const targets = { a: large, b: large, c: large, d: large }
  const client = new TestClient(mcpPlan(Object.keys(targets)), fakeTargets(targets).call, { claim })
  await client.initialize()
  const { messages, exchange } = await client.request(1, 'tools/list')
  expect(messages).toMatchObject([{ id: 1, error: { code: -32603 } }])
  expect(exchange.refusalDetail).toContain('no memory is left for the response of the target: ')
  expect(most()).toBeLessThanOrEqual(100_000)
})

test('held-calls: as many as fit, of each caller and of all', () => {
  const calls = new HeldCalls()
  const admitted = Array.from({ length: 20_000 }, (_, at) => calls.admit(`caller ${at % 20}`)).filter((one) => one)
  expect([admitted.length, calls.count]).toEqual([1000, 1000])
  for (const leave of admitted) leave?.()
  const own = Array.from({ length: 200 }, () => calls.admit('caller')).filter((one) => one)
  expect([own.length, calls.count]).toEqual([100, 100])
})

test('to-client: pings without responses', async () => {
  const pings = (function* () {
    for (let i = 0; i < 3000; i++) yield { jsonrpc: '2.0', id: `${i}${'x'.repeat(1000)}`, method: 'ping' }
    yield { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: `0${'x'.repeat(1000)}` } }
    yield { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: `2999${'x'.repeat(1000)}` } }
  })()
  const speaks: FakeTarget = (call) => (call.method === 'GET' ? { events: pings } : target(() => ({}))(call))
  const { claim, most } = memoryOf(10_000_000)
  const client = new TestClient(mcpPlan(['a']), fakeTargets({ a: speaks }).call, { claim })
  await client.initialize()
  const { messages } = await client.send({ method: 'GET' })
  expect(messages.filter(({ method }) => method === 'ping')).toHaveLength(3000)
  expect(messages.filter(({ method }) => method === 'notifications/cancelled')).toHaveLength(1)
  expect(most()).toBeLessThan(256 * 4096)
})

test.each([
  ['an id of a target', (id: string) => ({ jsonrpc: '2.0', id, method: 'ping' })],
  ['an id of an answer', (id: string) => ({ jsonrpc: '2.0', id, result: {} })],
])('%s is no longer than 1024 characters', async (_, say) => {
  const speaks = (id: string) =>
    target((call) => ({ events: [say(id), { jsonrpc: '2.0', id: call.message?.id, result: {} }] }))
  for (const [length, succeeds] of [
    [1024, true],
    [1025, false],
  ] as const) {
    const client = new TestClient(mcpPlan(['a']), fakeTargets({ a: speaks('x'.repeat(length)) }).call)
    await client.initialize()
    const { messages } = await client.request(1, 'tools/call', { name: 'x' })
    expect(messages.at(-1)?.error === undefined).toBe(succeeds)
  }
})

test('opened sessions', () => {
  const opened = new OpenedSessions()
  const one = { session: NO_SESSION, backend: 'b', caller: 'c' }
  for (let i = 0; i < 10_000; i++) opened.set(`${i}`, one)
  const kept = Array.from({ length: 10_000 }, (_, i) => opened.get(`${i}`) !== undefined)
  expect([kept.filter(Boolean).length, kept.at(-1)]).toEqual([4096, true])
})

test('session-settings and read-news', async () => {
  const table = new LocalTable()
  const session = { ...NO_SESSION, key: 's' }
  for (let i = 0; i < 1000; i++) {
    noteSetting(session, 'a', { method: 'resources/subscribe', params: { uri: `m://${i}` } }, table)
  }
  const kept = subscriptionsOf(session, 'a', table)
  expect([kept.length, kept.at(-1)]).toEqual([256, 'm://999'])

  const channels = new LocalChannels('w1')
  const client = new AbortController()
  const news = readNews({ channels, signal: client.signal }, 's')
  const first = news.next()
  for (let i = 0; i < 1000; i++) await announceChange(channels, 's', new Set(['tools']))
  await announceEnd(channels, 's')
  const texts = [(await first).value, ...(await Array.fromAsync(news))]
  expect([texts.length, texts.at(-1)]).toEqual([18, 'end'])
})

test('shared-table', () => {
  const table = new LocalTable()
  table.set('session', 'first', '')
  for (let i = 0; i < 3 * MAX_ENTRIES; i++) table.set('answer', `${i}`, '')
  expect(table.get('session', 'first')).toBe('')
  const remembered = Array.from({ length: 3 * MAX_ENTRIES }, (_, i) => table.get('answer', `${i}`) !== undefined)
  expect(remembered.filter(Boolean)).toHaveLength(MAX_ENTRIES)
  expect(remembered.at(-1)).toBe(true)
})

test.each([
  ['many tokens', 20_000, 20, 4096],
  ['large tokens', 3000, 16_384, 512],
])('verified-tokens: %s', (_, count, length, most) => {
  const tokens = new VerifiedTokens()
  const valid = { expires: 0, keySet: NO_KEY_SET, keys: NO_KEY_SET.keys }
  const text = (i: number) => `${i}`.padEnd(length, 'x')
  for (let i = 0; i < count; i++) tokens.add({ identity: { claims: {}, token: text(i) }, ...valid })
  let known = 0
  for (let i = count - 1; i >= 0; i--) if (tokens.get(text(i)) !== undefined) known++
  expect(known).toBeGreaterThan(most / 4)
  expect(known).toBeLessThanOrEqual(most)
})
