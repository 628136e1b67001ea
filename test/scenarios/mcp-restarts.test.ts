import { expect, test } from 'vitest'
import { McpMemory } from '#protocols/mcp/request/mcp-memory.ts'
import { LocalChannels } from '#state/channels.ts'
import { LocalTable } from '#state/shared-table.ts'
import { type FakeTarget, fakeTargets, TestClient, target } from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { createSealer, readSessionKeys } from '#workers/sealer.ts'

/** What the client of a session holds, sealed, is valid at a gateway that was restarted: ids of sessions, cursors, events, requests and tokens. */

const [KEY, NEW, OTHER] = ['0', '1', '2'].map((digit) => digit.repeat(64))

const sealerOf = (current: string | undefined, previous?: string) =>
  createSealer(readSessionKeys({ SESSION_KEY: current, GATEWRIGHT_SESSION_KEY_PREVIOUS: previous }))

/** Has two pages of tools; asks the client during a call, under id 1 and token 2, and ends the stream before its response. */
const server: FakeTarget = target(({ method, message, target: name, headers }) => {
  const { id, method: asked, params } = message ?? {}
  if (method === 'GET') {
    const rest = { jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: headers['last-event-id'] }] } }
    return { events: [rest] }
  }
  if (asked === 'tools/list') {
    const at = params?.cursor === undefined ? 1 : 2
    const tools = [{ name: `${at}`, inputSchema: {} }]
    return { json: { jsonrpc: '2.0', id, result: { tools, ...(at === 1 && { nextCursor: '2' }) } } }
  }
  if (asked !== 'tools/call') return {}
  const ask = { jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: { _meta: { progressToken: 2 } } }
  return { events: [`id: ${name}-41\ndata: ${JSON.stringify(ask)}\n\n`] }
})

async function start() {
  const plan = mcpPlan(['a', 'b'])
  const { call, seen } = fakeTargets({ a: server, b: server })
  const before = new TestClient(plan, call, { sealer: sealerOf(KEY) })
  await before.initialize()
  const { messages: pages } = await before.request(1, 'tools/list')
  const { messages, text } = await before.request(7, 'tools/call', { name: 'b_1' })
  const progressToken = (messages[0]!.params!._meta as { readonly progressToken: string }).progressToken
  const held = {
    cursor: pages[0]!.result!.nextCursor as string,
    asked: messages[0]!.id!,
    progressToken,
    lastEventId: /^id: (.+)$/m.exec(text)![1]!,
  }
  /** The same client at a gateway that has nothing but its keys. */
  const restarted = (sealer: ReturnType<typeof sealerOf>) => {
    const fresh = { table: new LocalTable(), channels: new LocalChannels('w1'), memory: new McpMemory() }
    const client = before.with({ ...fresh, sealer })
    client.sessionId = before.sessionId
    seen.length = 0
    return client
  }
  return { held, seen, restarted }
}

test.each<[keys: string, current: string | undefined, previous: string | undefined]>([
  ['with the same key', KEY, undefined],
  ['with another key, and the former one as the previous', NEW, KEY],
])('restarted %s', async (_, current, previous) => {
  const { held, seen, restarted } = await start()
  const client = restarted(sealerOf(current, previous))
  const { messages } = await client.request(2, 'tools/list', { cursor: held.cursor })
  expect(messages[0]?.result).toEqual({ tools: ['a_2', 'b_2'].map((name) => ({ name, inputSchema: {} })) })
  await client.notify('notifications/progress', { progressToken: held.progressToken, progress: 1 })
  const answer = { jsonrpc: '2.0', id: held.asked, result: {} }
  expect((await client.send({ message: answer })).status).toBe(202)
  expect((await client.send({ message: answer })).status).toBe(400)
  const resumed = await client.send({ method: 'GET', headers: { 'last-event-id': held.lastEventId } })
  expect(resumed.messages).toEqual([{ jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: 'b-41' }] } }])
  expect((await client.send({ method: 'DELETE' })).status).toBe(204)
  expect((await client.request(3, 'tools/list')).status).toBe(404)
  const atB = seen
    .filter(({ target }) => target === 'b')
    .map(({ method, message }) => message?.params ?? message?.id ?? method)
  expect(atB).toEqual([{ cursor: '2' }, { progressToken: 2, progress: 1 }, 1, 'GET', 'DELETE'])
})

test.each<[keys: string, current: string | undefined]>([
  ['with another key only', OTHER],
  ['without a key, so with one of its own', undefined],
])('restarted %s, the client must begin another session', async (_, current) => {
  const { held, seen, restarted } = await start()
  const client = restarted(sealerOf(current))
  expect((await client.request(2, 'tools/list', { cursor: held.cursor })).status).toBe(404)
  expect((await client.send({ message: { jsonrpc: '2.0', id: held.asked, result: {} } })).status).toBe(404)
  expect((await client.send({ method: 'GET', headers: { 'last-event-id': held.lastEventId } })).status).toBe(404)
  expect((await client.send({ method: 'DELETE' })).status).toBe(404)
  expect(seen).toEqual([])
  await client.initialize()
  expect((await client.request(2, 'tools/list', { cursor: held.cursor })).messages[0]?.error?.code).toBe(-32602)
})

test('two gateways with the same key serve a session in turns; a deletion holds at the one that served it', async () => {
  const { restarted } = await start()
  const [one, other] = [restarted(sealerOf(KEY)), restarted(sealerOf(KEY))]
  expect((await one.request(2, 'tools/list')).status).toBe(200)
  expect((await other.request(3, 'tools/list')).status).toBe(200)
  expect((await one.send({ method: 'DELETE' })).status).toBe(204)
  expect((await one.request(4, 'tools/list')).status).toBe(404)
  // The replica has not heard of it, and the target has: in reality it says 404.
  expect((await other.request(4, 'tools/list')).status).toBe(200)
})
