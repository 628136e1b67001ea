import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Call } from '#exchange/call.ts'
import { eventually } from '#test/support/eventually.ts'
import { type FakeTarget, fakeTargets, TestClient, target } from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'

/** Responses of targets that HTTP permits and that need work before the client gets them. */

const RESULT = { content: [{ type: 'text', text: 'right' }] }
const right: FakeTarget = target(({ message }) => ({ json: { jsonrpc: '2.0', id: message?.id, result: RESULT } }))

async function start(targets: Readonly<Record<string, FakeTarget>>, through: (call: Call) => Call = (call) => call) {
  const { call, seen } = fakeTargets(targets)
  const client = new TestClient(mcpPlan(Object.keys(targets)), through(call))
  await client.initialize()
  return { client, seen }
}

const callTool = (client: TestClient) => client.request(1, 'tools/call', { name: 'x' })

const streamed: FakeTarget = target(({ message }) => ({
  events: [{ jsonrpc: '2.0', id: message?.id, result: RESULT }],
}))

test.each([
  ['one target', { a: right }],
  ['several targets', { a: right, b: right }],
  ['an event stream', { a: streamed }],
])('a compressed response is decoded, with %s', async (_, targets) => {
  const compressing =
    (call: Call): Call =>
    async (destination, request) => {
      const response = await call(destination, request)
      if (request.method !== 'POST' || response.status !== 200) return response
      const plain = Buffer.concat(await Array.fromAsync(response.body))
      async function* compressed() {
        yield gzipSync(plain)
      }
      const header = (name: string) => (name === 'content-encoding' ? 'gzip' : response.header(name))
      return { ...response, header, body: compressed() }
    }
  const { client } = await start(targets, compressing)
  const { messages } = await client.request(1, 'tools/call', { name: 'b' in targets ? 'a_x' : 'x' })
  expect(messages).toMatchObject([{ id: 1, result: RESULT }])
})

const redirects: [status: number, location: string, isFollowed: boolean][] = [
  [307, '/elsewhere', true],
  [308, 'http://127.0.0.1:80/elsewhere', true],
  [307, 'http://127.0.0.1:81/elsewhere', false],
  [307, 'https://127.0.0.1/elsewhere', false],
  [307, 'http://other.example/elsewhere', false],
  [302, '/elsewhere', false],
]

test.each(redirects)('a redirect of a call: %i to %s', async (status, location, isFollowed) => {
  const redirecting: FakeTarget = (call) =>
    call.message?.method === 'tools/call' && call.path !== '/elsewhere'
      ? { status, headers: { location } }
      : right(call)
  const { client, seen } = await start({ a: redirecting })
  const received = await callTool(client)
  expect(received.headers.location).toBeUndefined()
  const calls = seen.filter(({ message }) => message?.method === 'tools/call')
  expect(calls.length).toBe(isFollowed ? 2 : 1)
  if (isFollowed) expect(received.messages).toMatchObject([{ id: 1, result: RESULT }])
  else expect([received.status, received.messages[0]?.error?.code]).toEqual([503, -32603])
})

test('redirects without end fail the call', async () => {
  const endless: FakeTarget = (call) =>
    call.message?.method === 'tools/call' ? { status: 307, headers: { location: `${call.path}x` } } : right(call)
  const { client, seen } = await start({ a: endless })
  expect((await callTool(client)).messages[0]?.result).toBeUndefined()
  expect(seen.filter(({ message }) => message?.method === 'tools/call')).toHaveLength(4)
})

test('of several targets, a stream that ends is opened again from its last event, and the other one goes on', async () => {
  const news = (data: string) => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } })
  const resumed: (string | undefined)[] = []
  const ending = target((call) => {
    if (call.method !== 'GET') return {}
    resumed.push(call.headers['last-event-id'])
    const event = `id: ${resumed.length}\nretry: 1\ndata: ${JSON.stringify(news(`a${resumed.length}`))}\n\n`
    return { events: [event] }
  })
  const gate = Promise.withResolvers<void>()
  const lasting = target((call) => {
    if (call.method !== 'GET') return {}
    const stream = async function* () {
      await gate.promise
      yield news('b')
      await new Promise(() => {})
    }
    return { events: stream() }
  })
  const { client } = await start({ a: ending, b: lasting })
  let text = ''
  void client.send({
    method: 'GET',
    leaves: (received) => {
      text = received
      return received.includes('"b"')
    },
  })
  await eventually('the stream is opened again', () => text.includes('"a3"'))
  gate.resolve()
  await eventually('the other target', () => text.includes('"b"'))
  expect(resumed.slice(0, 3)).toEqual([undefined, '1', '2'])
})

test.each(['2025-06-18\r\nx: y', '2025-06-18\n', '', 'x'.repeat(2000), '2025-06-18\0'])(
  'a client offers the revision %j: another one is agreed on, and the session works',
  async (protocolVersion) => {
    const { call, seen } = fakeTargets({ a: right })
    const client = new TestClient(mcpPlan(['a']), call)
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const message = { jsonrpc: '2.0', id: 0, method: 'initialize', params }
    const { status, headers, messages } = await client.send({ message })
    expect(status).toBe(200)
    expect(messages[0]?.result?.protocolVersion).toBe('2025-11-25')
    client.sessionId = headers['mcp-session-id']
    expect((await callTool(client)).messages).toMatchObject([{ id: 1, result: RESULT }])
    for (const { headers } of seen) expect(Object.values(headers).join()).not.toMatch(/[\r\n\0]/)
  },
)

test('a response in JSON that is too large fails the call', async () => {
  const large: FakeTarget = target(({ message }) => ({ json: { jsonrpc: '2.0', id: message?.id, result: RESULT } }))
  const growing =
    (call: Call): Call =>
    async (destination, request) => {
      const response = await call(destination, request)
      if (!new TextDecoder().decode(request.body as Uint8Array).includes('tools/call')) return response
      const piece = new Uint8Array(1024 * 1024).fill(0x20)
      async function* body() {
        for (let i = 0; i < 40; i++) yield piece
      }
      return { ...response, body: body() }
    }
  const { client } = await start({ a: large }, growing)
  const { messages } = await callTool(client)
  expect(messages).toMatchObject([{ error: { message: expect.stringContaining('the limit is 33554432 bytes') } }])
})
