import { expect, test } from 'vitest'
import type { McpPlan } from '#protocols/mcp/config/mcp-plan.ts'
import { type FakeReply, fakeTargets, type SeenCall, TestClient, target } from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'

const NEWS = '{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
const ANSWER = '{"jsonrpc":"2.0","id":9,"result":{"content":[]}}'
const event = (id: string, data: string) => `id: ${id}\nretry: 1\ndata: ${data}\n\n`
const BROKEN = { events: [event('1', NEWS)], breaks: true }

/** Calls a tool of target `a`. @param stream how it answers GET, in order; the last one also all later ones */
async function call(plan: McpPlan, first: FakeReply, stream: readonly FakeReply[]) {
  const gets: SeenCall[] = []
  const { call, seen } = fakeTargets({
    a: (asked) => {
      if (asked.method === 'GET') return stream[Math.min(gets.push(asked), stream.length) - 1]!
      return target(() => first)(asked)
    },
    b: target(() => ({})),
  })
  const client = new TestClient(plan, call)
  if (plan.sessionRouting === 'Stateful') await client.initialize()
  const { messages, text } = await client.request(9, 'tools/call', { name: plan.multiplexes ? 'a_x' : 'x' })
  const resumed = gets.map(({ headers }) => headers['last-event-id'])
  const initialised = seen.filter(({ target, message }) => target === 'a' && message?.method === 'initialize')
  return { messages, text, resumed, initialised: initialised.length }
}

const single = mcpPlan(['a'])
const plans = [
  ['a single target', single],
  ['several targets', mcpPlan(['a', 'b'])],
  ['without sessions', mcpPlan(['a'], { sessionRouting: 'Stateless' })],
] as const

test.each(plans)('a stream that breaks is continued after its last event: %s', async (_, plan) => {
  const { messages, resumed } = await call(plan, BROKEN, [{ events: [event('2', NEWS), event('3', ANSWER)] }])
  expect(messages.map(({ id, method }) => id ?? method)).toEqual(['notifications/message', 'notifications/message', 9])
  expect(messages[2]).toHaveProperty('result')
  expect(resumed).toEqual(['1'])
})

test('it may break again, each time after another event', async () => {
  const again = ['2', '3', '4', '5'].map((id) => ({ events: [event(id, NEWS)], breaks: true }))
  const { messages, resumed } = await call(single, BROKEN, [...again, { events: [event('6', ANSWER)] }])
  expect(messages).toHaveLength(6)
  expect(messages[5]).toHaveProperty('result')
  expect(resumed).toEqual(['1', '2', '3', '4', '5'])
})

test('event ids of a single target stay, so that the client can continue as well', async () => {
  const { text } = await call(single, BROKEN, [{ events: [event('2', ANSWER)] }])
  expect(text.match(/^id: .*/gm)).toEqual(['id: 1', 'id: 2'])
})

test.each<[why: string, first: FakeReply, stream: readonly FakeReply[], resumed: readonly string[]]>([
  ['it has no event ids', { events: [`data: ${NEWS}\n\n`], breaks: true }, [{ events: [event('2', ANSWER)] }], []],
  ['the target does not have the rest', BROKEN, [{ status: 405 }], ['1']],
  ['the target has lost the session', BROKEN, [{ status: 404 }], ['1']],
  ['it breaks again and again', BROKEN, [{ events: [], breaks: true }], ['1', '1', '1']],
  [
    'the target broke the protocol',
    { events: [event('1', NEWS), 'data: x\n\n'] },
    [{ events: [event('2', ANSWER)] }],
    [],
  ],
])('the client gets an error: %s', async (_, first, stream, resumed) => {
  const found = await call(single, first, stream)
  expect(found.messages.at(-1)).toMatchObject({ id: 9, error: { code: -32603 } })
  expect(found.resumed).toEqual(resumed)
  expect(found.initialised).toBe(1)
})

test('a stream that ends early is continued by the client, not here', async () => {
  const { messages, resumed } = await call(single, { events: [event('1', NEWS)] }, [{ events: [event('2', ANSWER)] }])
  expect(messages).toHaveLength(1)
  expect(resumed).toEqual([])
})
