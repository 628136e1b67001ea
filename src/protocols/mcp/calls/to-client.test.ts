import { expect, test } from 'vitest'
import type { JsonObject } from '#base/json.ts'
import { NO_MCP } from '#exchange/mcp-facts.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { decodeStream } from '#net/body/decode-content.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { LocalChannels } from '#state/channels.ts'
import { LocalTable } from '#state/shared-table.ts'
import { eventually } from '#test/support/eventually.ts'
import { fakeTargets } from '#test/support/fake-targets.ts'
import { lastingServices } from '#test/support/lasting-services.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { testSealer } from '#test/support/test-sealer.ts'
import { type Message, parseMessage } from '../message/json-rpc.ts'
import { McpMemory } from '../request/mcp-memory.ts'
import { ToClient } from './to-client.ts'

const SESSION = {
  target: 'a',
  sessionId: 'x',
  version: '2025-11-25',
  endpoint: undefined,
  capabilities: new Set<never>(),
}

/** What a target of a client says, with as many bytes of memory as are given. */
function stream({ maxBytes = 1_000_000, relaysAnswers = false, key = 's', call = fakeTargets({}).call } = {}) {
  const memory = new BodyMemory(maxBytes)
  const exchange = exchangeWith()
  exchange.mcp = { ...NO_MCP }
  const leaving = new AbortController()
  const plan = mcpPlan(['a'])
  const deps = {
    call,
    lasting: lastingServices(call),
    sealer: testSealer(),
    table: new LocalTable(),
    channels: new LocalChannels('w1'),
    decode: decodeStream,
    whenOver: () => {},
    memory: new McpMemory(),
    claim: new BodyClaim(memory),
    signal: leaving.signal,
  }
  const toClient = new ToClient(
    { plan, exchange, deps, era: 'legacy' },
    { key },
    { plan: plan.targets[0]!, session: SESSION },
    relaysAnswers,
  )
  const say = (message: object): JsonObject | undefined => {
    const parsed = parseMessage(JSON.stringify({ jsonrpc: '2.0', ...message })) as Message
    const text = toClient.translate({ message: parsed, eventId: undefined, retryMs: undefined, keep: () => {} })
    return text === undefined ? undefined : (JSON.parse(text) as JsonObject)
  }
  return { memory, exchange, leaving, say }
}

const ask = (id: number) => ({ id, method: 'elicitation/create' })
const cancel = (requestId: unknown) => ({ method: 'notifications/cancelled', params: { requestId } })

test('a request is canceled with the id that the client knows, the last one of its id', () => {
  const { say, memory } = stream()
  say(ask(1))
  const held = memory.heldBytes
  const again = say(ask(1))!
  expect(memory.heldBytes).toBe(held)
  expect(say(cancel(1))).toMatchObject({ params: { requestId: again.id } })
  expect(say(cancel('1'))).toBeUndefined()
  expect(say(cancel(null))).toBeUndefined()
})

test('a progress token is replaced, and none is added', () => {
  const { say } = stream()
  const metaOf = (_meta: object) => (say({ ...ask(1), params: { _meta } })!.params as JsonObject)._meta
  expect(metaOf({ other: true })).toEqual({ other: true })
  expect(metaOf({ progressToken: 7 })).toEqual({ progressToken: expect.stringMatching(/^.{20,}$/) })
})

test('the last 256 requests can be canceled', () => {
  const { say, memory } = stream()
  const ids = Array.from({ length: 10 + 256 }, (_, i) => i + 10)
  for (const id of ids.slice(0, 256)) say(ask(id))
  const held = memory.heldBytes
  for (const id of ids.slice(256)) say(ask(id))
  const known = ids.filter((id) => say(cancel(id)) !== undefined)
  expect(known).toEqual(ids.slice(10))
  expect(memory.heldBytes).toBeLessThan(1.1 * held)
})

test('without memory a request is forwarded, and cannot be canceled', () => {
  const { say, memory } = stream({ maxBytes: 10 })
  expect(say(ask(1))).toMatchObject({ method: 'elicitation/create' })
  expect(say(cancel(1))).toBeUndefined()
  expect(memory.heldBytes).toBe(0)
})

test('an answer that belongs elsewhere is counted and dropped, unless the client has disconnected', () => {
  const answer = { id: 1, result: {} }
  const { say, exchange, leaving } = stream()
  for (let i = 0; i < 2; i++) expect(say(answer)).toBeUndefined()
  expect(exchange.mcp?.strayAnswers).toEqual(new Map([['a', 2]]))
  leaving.abort()
  expect(say(answer)).toBeUndefined()
  expect(exchange.mcp?.strayAnswers).toEqual(new Map([['a', 2]]))
  expect(stream({ relaysAnswers: true }).say(answer)).toMatchObject(answer)
})

test('a value that is not a progress token is unchanged', () => {
  const { say } = stream()
  for (const _meta of [7, { progressToken: {} }, { other: 1 }]) {
    expect(say({ ...ask(1), params: { _meta } })).toMatchObject({ params: { _meta } })
  }
})

test('a single target names its resources itself', () => {
  const { say } = stream()
  for (const params of [{ uri: 'a:b' }, { uri: 7 }, undefined]) {
    const message = { method: 'notifications/resources/updated', ...(params && { params }) }
    expect(say(message)).toEqual({ jsonrpc: '2.0', ...message })
  }
})

test('without a session, 32 requests of a target are being refused at a time', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { call, seen } = fakeTargets({ a: () => promise.then(() => ({})) })
  const { say } = stream({ key: '', call })
  const askAll = () => Array.from({ length: 40 }, (_, id) => say(ask(id))).filter((said) => said !== undefined)
  expect(askAll()).toEqual([])
  expect(seen).toHaveLength(32)
  resolve()
  await eventually('all have been refused', () => {
    say(ask(100))
    return seen.length > 32
  })
  expect(seen[0]?.message).toMatchObject({ id: 0, error: { code: -32601 } })
})
