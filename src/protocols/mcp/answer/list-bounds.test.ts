import { expect, test } from 'vitest'
import { type FakeTarget, fakeTargets, TestClient, target } from '#test/support/fake-targets.ts'
import { mcpPlan, type TestMcp } from '#test/support/mcp-plan.ts'

const named = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `x${index}` }))

const lists = (result: object): FakeTarget =>
  target(({ message }) => ({ json: { jsonrpc: '2.0', id: message?.id, result } }))

async function connect(flood: object, names: readonly string[], rest: Omit<TestMcp, 'targets'> = {}) {
  const { call } = fakeTargets({ flood: lists(flood), good: lists({ tools: named(1) }) })
  const client = new TestClient(mcpPlan(names, rest), call)
  await client.initialize()
  return client
}

const BOTH = ['flood', 'good']

test.each<[what: string, result: object, limit: string]>([
  ['items', { tools: named(10_001) }, '10000 items on a page'],
  ['items of any kind', { tools: Array.from({ length: 200_000 }, () => 1) }, '10000 items on a page'],
  ['characters of a cursor', { tools: [], nextCursor: 'c'.repeat(4097) }, 'a cursor of 4096 characters'],
])('too many %s: the target fails', async (_, result, limit) => {
  for (const names of [BOTH, ['flood']]) {
    const { messages, exchange } = await (await connect(result, names)).request(1, 'tools/list')
    expect(messages[0]?.error).toMatchObject({
      code: -32603,
      message: expect.stringContaining(`the limit is ${limit}`),
    })
    expect(exchange.refusalDetail).toContain('target flood sent too long a list')
  }
  const open = await connect(result, BOTH, { failureMode: 'FailOpen' })
  const { messages, exchange } = await open.request(1, 'tools/list')
  expect(messages[0]?.result).toEqual({ tools: [{ name: 'good_x0' }] })
  expect(exchange.mcp?.toleratedFailures).toEqual(['error -32603 from target flood'])
})

test('what is within the bounds passes', async () => {
  const client = await connect({ tools: named(10_000), nextCursor: 'c'.repeat(4096) }, BOTH)
  const { messages } = await client.request(1, 'tools/list')
  expect((messages[0]!.result as { tools: unknown[] }).tools).toHaveLength(10_001)
})

test('a list without an end ends for clients of other targets', async () => {
  const client = await connect({ tools: [], nextCursor: 'on' }, BOTH)
  let cursor: unknown
  let pages = 0
  let error: unknown
  while (error === undefined && pages < 2000) {
    const { messages } = await client.request(1, 'tools/list', cursor === undefined ? undefined : { cursor })
    pages++
    cursor = messages[0]?.result?.nextCursor
    error = messages[0]?.error
  }
  expect([pages, error]).toEqual([1000, expect.objectContaining({ message: expect.stringContaining('1000 pages') })])
})
