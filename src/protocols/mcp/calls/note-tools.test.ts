import { expect, test } from 'vitest'
import type { ToolChanges } from '#protocols/backend-protocol.ts'
import { LocalTable } from '#state/shared-table.ts'
import { fakeTargets, TestClient, target } from '#test/support/fake-targets.ts'
import { mcpPlan, type TestMcp } from '#test/support/mcp-plan.ts'
import { digestOfTool } from '../tools/tool-digest.ts'

const tool = (description: string, name = 'x') => ({ name, description, inputSchema: { type: 'object' } })

/** A target whose tools a test changes. */
async function start(rest: Omit<TestMcp, 'targets'>, names = ['a', 'b']) {
  const served = { tools: [tool('good')] as unknown[] }
  const server = target(({ message }) => {
    const result = message?.method === 'tools/list' ? { tools: served.tools } : { content: [] }
    return { json: { jsonrpc: '2.0', id: message?.id, result } }
  })
  const { call, seen } = fakeTargets({ a: server, b: target(() => ({ status: 500 })) })
  const reported: ToolChanges[] = []
  const table = new LocalTable()
  const plan = mcpPlan(names, { failureMode: 'FailOpen', ...rest })
  const connect = async () => {
    const client = new TestClient(plan, call, { table, toolsChanged: (changes) => reported.push(changes) })
    if (plan.sessionRouting === 'Stateful') await client.initialize()
    return client
  }
  const list = async (client: TestClient) => {
    const { messages } = await client.request(1, 'tools/list')
    return (messages[0]!.result as { tools: { name: string }[] }).tools.map(({ name }) => name)
  }
  const use = async (client: TestClient, name = 'a_x') => {
    const { messages, exchange } = await client.request(2, 'tools/call', { name })
    return messages[0]?.error === undefined ? 'called' : `${messages[0].error.message} (${exchange.refusal})`
  }
  return { served, seen, reported, connect, list, use }
}

test('a changed tool is reported once, and may be used', async () => {
  const { served, reported, connect, list, use } = await start({})
  const client = await connect()
  await list(client)
  served.tools = [tool('evil')]
  expect(await list(client)).toEqual(['a_x'])
  await list(client)
  await list(await connect())
  expect(await use(client)).toBe('called')
  const changed = { name: 'x', digest: digestOfTool(tool('evil')), state: 'changed', isRefused: false }
  expect(reported).toEqual([{ backend: 'ProxyBackend/default/tools', target: 'a', tools: [changed] }])
})

test.each(['Stateful', 'Stateless'] as const)(
  '%s: a changed tool is refused where tools are pinned',
  async (routing) => {
    const { served, reported, connect, list, use } = await start({ toolPinning: {}, sessionRouting: routing })
    const client = await connect()
    expect(await use(client)).toBe('called')
    served.tools = [tool('evil'), tool('good', 'new')]
    expect(await list(client)).toEqual(['a_new'])
    expect(await use(client)).toBe('Unknown tool: a_x (mcp-tool-changed)')
    expect(await use(client, 'a_new')).toBe('called')
    // Another worker, which has seen nothing, has the same table.
    expect(await use(await connect())).toBe('Unknown tool: a_x (mcp-tool-changed)')
    expect(reported.map(({ tools }) => tools)).toEqual([[expect.objectContaining({ name: 'x', isRefused: true })]])
    served.tools = [tool('good')]
    expect(await list(client)).toEqual(['a_x'])
    expect(await use(client)).toBe('called')
  },
)

test('a worker does not rely on what it knows of a tool if another one has seen that it changed', async () => {
  const { served, connect, list, use } = await start({ toolPinning: {} })
  const [one, other] = [await connect(), await connect()]
  await list(one)
  await list(other)
  expect(await use(one)).toBe('called')
  served.tools = [tool('evil')]
  await list(other)
  expect(await use(one)).toBe('Unknown tool: a_x (mcp-tool-changed)')
})

test('with accepted digests, only those tools may be used, also after a restart', async () => {
  const toolPinning = { accepted: [digestOfTool(tool('evil'))] }
  const { served, reported, connect, list, use } = await start({ toolPinning })
  const client = await connect()
  expect(await list(client)).toEqual([])
  expect(await use(client)).toBe('Unknown tool: a_x (mcp-tool-changed)')
  expect(reported).toEqual([
    expect.objectContaining({ tools: [expect.objectContaining({ state: 'new', isRefused: true })] }),
  ])
  const { exchange } = await client.request(2, 'tools/call', { name: 'a_x' })
  expect(exchange.refusalDetail).toBe(`the tool is not accepted; its digest is ${digestOfTool(tool('good'))}`)
  served.tools = [tool('evil')]
  expect(await list(client)).toEqual(['a_x'])
  expect(await use(client)).toBe('called')
})

test('a pinned tool that cannot be listed is refused', async () => {
  const { served, connect, use, seen } = await start({ toolPinning: {} })
  served.tools = []
  const client = await connect()
  expect(await use(client)).toBe('Unknown tool: a_x (mcp-tool-changed)')
  expect(seen.filter(({ message }) => message?.method === 'tools/call')).toEqual([])
})

test('names that are too long are not remembered', async () => {
  const { served, connect, list, use } = await start({ toolPinning: {} })
  const long = 'x'.repeat(257)
  served.tools = [tool('good', long), tool('good')]
  const client = await connect()
  expect(await list(client)).toEqual(['a_x'])
  expect(await use(client, `a_${long}`)).toContain('mcp-tool-changed')
})
