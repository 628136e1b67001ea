import { expect, test } from 'vitest'
import { type FakeTarget, fakeTargets, TestClient, target } from '#test/support/fake-targets.ts'
import { compileTestMcp, type TestMcp } from '#test/support/mcp-plan.ts'

type Action = 'Allow' | 'Deny' | 'Require'

function planWith(action: Action, expression: string, rest: Partial<TestMcp> = {}) {
  const rule = { authorization: { action, policy: { matchExpressions: [expression] } } } as const
  return compileTestMcp({ targets: [{ name: 'a' }, { name: 'b' }], ...rest }, [rule]).plan
}

const TOOLS = [
  { name: 'read', annotations: { readOnlyHint: true, title: 'Read' } },
  { name: 'write', annotations: { readOnlyHint: false } },
  { name: 'plain' },
]

/** Lists one tool a page. */
const pages = (tools: readonly object[] = TOOLS): FakeTarget =>
  target(({ message }) => {
    const at = Number(message?.params?.cursor ?? 0)
    const next = at + 1 < tools.length ? { nextCursor: String(at + 1) } : {}
    const result = message?.method === 'tools/list' ? { tools: tools.slice(at, at + 1), ...next } : { content: [] }
    return { json: { jsonrpc: '2.0', id: message?.id, result } }
  })

const failing = target(({ message }) => {
  if (message?.method === 'tools/list') return { status: 500 }
  return { json: { jsonrpc: '2.0', id: message?.id, result: { content: [] } } }
})

async function start(plan: ReturnType<typeof planWith>, a: FakeTarget = pages()) {
  const { call, seen } = fakeTargets({ a, b: pages([]) })
  const client = new TestClient(plan, call)
  if (plan.sessionRouting === 'Stateful') await client.initialize()
  seen.length = 0
  const outcomes = async (...names: string[]) => {
    const results: string[] = []
    for (const name of names) {
      const { messages } = await client.request(7, 'tools/call', { name })
      results.push(messages[0]?.error?.message ?? 'called')
    }
    return results
  }
  const methods = () => seen.map(({ message }) => message?.method)
  return { client, seen, outcomes, methods }
}

const ALL = ['a_read', 'a_write', 'a_plain']

test.each<[action: Action, expression: string, called: readonly string[]]>([
  ['Require', 'mcp.tool.annotations.readOnlyHint', ['a_read']],
  ['Deny', 'mcp.tool.annotations.destructiveHint', ['a_read']],
  ['Allow', 'mcp.tool.annotations.title == "Read"', ['a_read']],
  ['Require', 'has(mcp.tool.annotations.title)', ['a_read']],
  // A failed evaluation denies: tools without a title.
  ['Deny', 'mcp.tool.annotations.title.contains("x")', ['a_read']],
  ['Require', 'mcp.tool.annotations.openWorldHint && !mcp.tool.annotations.idempotentHint', ALL],
])('%s %s allows %j, listed before or not', async (action, expression, called) => {
  const { client, outcomes } = await start(planWith(action, expression))
  const expected = ALL.map((name) => (called.includes(name) ? 'called' : `Unknown tool: ${name}`))
  expect(await outcomes(...ALL)).toEqual(expected)
  const listed: unknown[] = []
  let cursor: unknown
  do {
    const { messages } = await client.request(1, 'tools/list', cursor === undefined ? undefined : { cursor })
    const { tools } = messages[0]!.result as { tools: { name: string }[] }
    listed.push(...tools.map(({ name }) => name))
    cursor = messages[0]?.result?.nextCursor
  } while (cursor !== undefined)
  expect(listed).toEqual(called)
  expect(await outcomes(...ALL)).toEqual(expected)
})

test('the gateway lists tools once, with all pages, before the first call', async () => {
  const { outcomes, methods, seen } = await start(planWith('Require', 'mcp.tool.annotations.readOnlyHint'))
  await outcomes('a_read', 'a_read', 'a_nothing')
  expect(methods()).toEqual(['tools/list', 'tools/list', 'tools/list', 'tools/call', 'tools/call'])
  expect(seen.every(({ target }) => target === 'a')).toBe(true)
})

test('rules that do not need annotations list nothing', async () => {
  const { outcomes, methods } = await start(planWith('Require', 'has(mcp.tool) && mcp.tool.name == "read"'))
  expect(await outcomes('a_read')).toEqual(['called'])
  expect(methods()).toEqual(['tools/call'])
})

test.each<[action: Action, expression: string]>([
  ['Require', 'mcp.tool.annotations.readOnlyHint'],
  ['Require', '!mcp.tool.annotations.destructiveHint'],
  ['Require', 'default(mcp.tool.annotations.readOnlyHint, true)'],
  ['Require', '!has(mcp.tool.annotations.title)'],
  ['Allow', 'coalesce(mcp.tool.annotations.readOnlyHint, true)'],
  ['Deny', 'mcp.tool.annotations.destructiveHint'],
  ['Deny', 'default(mcp.tool.annotations.destructiveHint, false)'],
  ['Deny', 'mcp.?tool.?annotations.?destructiveHint.orValue(false)'],
])('%s %s refuses a tool whose annotations nobody knows', async (action, expression) => {
  for (const a of [failing, pages([])]) {
    const { outcomes, client } = await start(planWith(action, expression), a)
    expect(await outcomes('a_read')).toEqual(['Unknown tool: a_read'])
    const { exchange } = await client.request(7, 'tools/call', { name: 'a_read' })
    expect(exchange.refusal).toBe('authorization-denied')
    expect(exchange.refusalDetail).toContain('the annotations of the tool are not known')
  }
})

test('a rule that does not need the annotations of this tool allows it', async () => {
  const { outcomes } = await start(
    planWith('Require', 'mcp.tool.name == "x" || mcp.tool.annotations.readOnlyHint'),
    failing,
  )
  expect(await outcomes('a_x', 'a_y')).toEqual(['called', 'Unknown tool: a_y'])
})

test('without a session it lists tools, too', async () => {
  const plan = planWith('Require', 'mcp.tool.annotations.readOnlyHint', { sessionRouting: 'Stateless' })
  const { outcomes } = await start(plan)
  expect(await outcomes('a_read', 'a_write', 'a_read')).toEqual(['called', 'Unknown tool: a_write', 'called'])
})

test('after a change of the list that the target tells, tools are listed again', async () => {
  let tools: readonly object[] = TOOLS
  const changing = target((call) => {
    const { message } = call
    if (message?.method !== 'tools/call') return pages(tools)(call)
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    return { events: [changed, { jsonrpc: '2.0', id: message.id, result: { content: [] } }] }
  })
  const { outcomes } = await start(planWith('Require', 'mcp.tool.annotations.readOnlyHint'), changing)
  expect(await outcomes('a_read')).toEqual(['called'])
  tools = [{ name: 'read', annotations: { readOnlyHint: false } }]
  expect(await outcomes('a_read')).toEqual(['Unknown tool: a_read'])
})
