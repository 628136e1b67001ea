import { expect, test } from 'vitest'
import { type FakeTarget, fakeTargets, TestClient, type TestMessage, target } from '#test/support/fake-targets.ts'
import { compileTestMcp, mcpPlan } from '#test/support/mcp-plan.ts'
import { verifies } from '#test/support/verifies.ts'

const _double = mcpPlan(['a', 'b'])

/** Answers every list with these results, by method and cursor (`tools/list`, `tools/list@2`). */
function lists(results: Readonly<Record<string, object>>, capabilities?: object): FakeTarget {
  return target(({ message }) => {
    const cursor = message?.params?.cursor
    const key = cursor === undefined ? message?.method : `${message?.method}@${cursor}`
    const result = results[key ?? '']
    const error = { code: -32601, message: 'Method not found' }
    return { json: { jsonrpc: '2.0', id: message?.id, ...(result === undefined ? { error } : { result }) } }
  }, capabilities)
}

const tools = (...names: string[]) => ({ tools: names.map((name) => ({ name, inputSchema: {} })) })

async function start(targets: Readonly<Record<string, FakeTarget>>, plan = mcpPlan(Object.keys(targets))) {
  const { call, seen } = fakeTargets(targets)
  const client = new TestClient(plan, call)
  await client.initialize()
  seen.length = 0
  return { client, seen }
}

function namesIn(message: TestMessage | undefined): unknown {
  const items = message?.result?.tools as { name: string }[] | undefined
  return items?.map(({ name }) => name) ?? message?.error
}

test('items keep everything but their name', async () => {
  const item = {
    name: 'x',
    title: 'X',
    inputSchema: { type: 'object' },
    _meta: { big: 1, 'ui/x': [null] },
    unknown: true,
  }
  const { client } = await start({
    a: lists({ 'tools/list': { tools: [item] } }),
    b: lists({ 'tools/list': tools('y') }),
  })
  const { messages } = await client.request(1, 'tools/list')
  expect(messages).toEqual([
    {
      jsonrpc: '2.0',
      id: 1,
      result: {
        tools: [
          { ...item, name: 'a_x' },
          { name: 'b_y', inputSchema: {} },
        ],
      },
    },
  ])
})

test('numbers of schemas survive', async () => {
  const json =
    '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"x","inputSchema":{"maximum":9223372036854775807}}]}}'
  const exact = target(() => ({ json }))
  const { client } = await start({ a: exact, b: exact })
  expect((await client.request(1, 'tools/list')).text).toContain('9223372036854775807')
})

test('an item that is called something else in another case is left out, and so is a list in another case', async () => {
  const hidden = ['{"name":"a","Name":"secret"}', '{"name":"a","na\u006de":"b","NAME":"secret"}', '{"Name":"secret"}']
  const json = `{"jsonrpc":"2.0","id":1,"result":{"tools":[${hidden},{"name":"x"}],"Tools":[{"name":"secret"}],"_meta":{}}}`
  const { plan } = compileTestMcp({ targets: [{ name: 'a' }] }, [
    { authorization: { action: 'Deny', policy: { matchExpressions: ['mcp.tool.name == "secret"'] } } },
  ])
  const { client } = await start({ a: target(() => ({ json })) }, plan)
  expect((await client.request(1, 'tools/list')).messages[0]?.result).toEqual({ tools: [{ name: 'x' }], _meta: {} })
})

test('resources and templates are named by URI', async () => {
  const a = lists({
    'resources/list': { resources: [{ uri: 'memo://x', name: 'x' }, { name: 'without URI' }] },
    'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'memo://{id}', name: 't' }] },
  })
  const { client } = await start({ a, b: lists({}) })
  expect((await client.request(1, 'resources/list')).messages[0]?.result).toEqual({
    resources: [{ uri: 'a+memo://x', name: 'x' }],
  })
  expect((await client.request(2, 'resources/templates/list')).messages[0]?.result).toEqual({
    resourceTemplates: [{ uriTemplate: 'a+memo://{id}', name: 't' }],
  })
})

test('lists of tasks have those that the rules allow', async () => {
  const { plan } = compileTestMcp({ targets: [{ name: 'a' }, { name: 'b' }] }, [
    {
      authorization: {
        action: 'Require',
        policy: { matchExpressions: ['mcp.task.target == "a" || mcp.task.name == "2"'] },
      },
    },
  ])
  const tasks = { tasks: [{ taskId: '1' }, { taskId: '2' }] }
  const a = lists({ 'tasks/list': tasks }, { tasks: { list: {} } })
  const { client } = await start({ a, b: a }, plan)
  const { messages } = await client.request(1, 'tasks/list')
  expect(messages[0]?.result?.tasks).toEqual([{ taskId: 'a+1' }, { taskId: 'a+2' }, { taskId: 'b+2' }])
})

test('only targets with the capability are asked; a missing method is an empty list', async () => {
  const { client, seen } = await start({
    a: lists({}, { prompts: {} }),
    b: lists({ 'tools/list': tools('x') }, { tools: {} }),
    c: lists({}, { tools: {} }),
  })
  expect(namesIn((await client.request(1, 'tools/list')).messages[0])).toEqual(['b_x'])
  expect(seen.map(({ target }) => target)).toEqual(['b', 'c'])
  expect((await client.request(2, 'resources/list')).messages[0]?.result).toEqual({ resources: [] })
  expect(seen).toHaveLength(2)
})

test('all pages of all targets can be reached', async () => {
  const { client, seen } = await start({
    a: lists({
      'tools/list': { ...tools('1'), nextCursor: '2' },
      'tools/list@2': { ...tools('2'), nextCursor: '3' },
      'tools/list@3': tools('3'),
    }),
    b: lists({ 'tools/list': { ...tools('1'), nextCursor: 'x' }, 'tools/list@x': tools('2') }),
    c: lists({ 'tools/list': tools('1') }),
  })
  const pages: unknown[] = []
  let cursor: unknown
  do {
    const { messages } = await client.request(1, 'tools/list', cursor === undefined ? undefined : { cursor })
    pages.push(namesIn(messages[0]))
    cursor = messages[0]?.result?.nextCursor
  } while (cursor !== undefined)
  expect(pages).toEqual([['a_1', 'b_1', 'c_1'], ['a_2', 'b_2'], ['a_3']])
  expect(seen.map(({ target }) => target).join('')).toBe('abcaba')
})

test('a target with the name of a member of all objects has pages like others', async () => {
  const more = lists({ 'tools/list': { ...tools('1'), nextCursor: '2' }, 'tools/list@2': tools('2') })
  const { client, seen } = await start({ a: more, constructor: lists({ 'tools/list': tools('1') }) })
  const { messages } = await client.request(1, 'tools/list')
  expect(namesIn(messages[0])).toEqual(['a_1', 'constructor_1'])
  const { nextCursor: cursor } = messages[0]!.result!
  expect(namesIn((await client.request(2, 'tools/list', { cursor })).messages[0])).toEqual(['a_2'])
  expect(seen.map(({ target }) => target)).toEqual(['a', 'constructor', 'a'])
})

test('cursors of something else are refused', async () => {
  const more = lists({ 'tools/list': { ...tools('1'), nextCursor: '2' }, 'tools/list@2': tools('2') })
  const { client } = await start({ a: more, b: more })
  const { messages } = await client.request(1, 'tools/list')
  const cursor = messages[0]?.result?.nextCursor as string
  const invalid = { code: -32602, message: 'Invalid cursor' }
  expect((await client.request(2, 'prompts/list', { cursor })).messages[0]?.error).toEqual(invalid)
  expect((await client.request(2, 'tools/list', { cursor: `${cursor}x` })).messages[0]?.error).toEqual(invalid)
  for (const forged of ['2', '', 2, true, {}, [cursor]]) {
    expect((await client.request(2, 'tools/list', { cursor: forged })).messages[0]?.error).toEqual(invalid)
  }
  expect((await client.request(2, 'tools/list', { cursor: null })).messages[0]?.error).toBeUndefined()
  await client.initialize()
  expect((await client.request(2, 'tools/list', { cursor })).messages[0]?.error).toEqual(invalid)
})

test('a single target keeps its names, cursor and the rest of its result', async () => {
  const result = { ...tools('x'), nextCursor: '2', _meta: { a: 1 } }
  const { client, seen } = await start({ a: lists({ 'tools/list': result, 'tools/list@2': tools('y') }) })
  expect((await client.request(1, 'tools/list')).messages[0]?.result).toEqual(result)
  expect(namesIn((await client.request(1, 'tools/list', { cursor: '2' })).messages[0])).toEqual(['y'])
  expect(seen).toHaveLength(2)
})

test('messages of targets meanwhile arrive before the list', async () => {
  const note = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } }
  const chatty = target(({ message }) => ({ events: [note, { jsonrpc: '2.0', id: message?.id, result: tools('x') }] }))
  const { client } = await start({ a: chatty, b: lists({ 'tools/list': tools('y') }) })
  const { messages } = await client.request(1, 'tools/list')
  expect(messages).toHaveLength(2)
  expect(messages[0]).toEqual(note)
  expect(namesIn(messages[1])).toEqual(['a_x', 'b_y'])
})

const healthy = lists({ 'tools/list': tools('y') })
const failures: [name: string, failing: FakeTarget, status: number, code: number, noted: string][] = [
  ['cannot be reached', () => ({ failure: 'connect-failed' }), 503, -32603, 'connect-failed from target a'],
  ['refuses', () => ({ status: 500, json: { error: { code: 7, message: '' } } }), 500, 7, 'status 500 from target a'],
  [
    'answers with an error',
    ({ message }) => ({ json: { jsonrpc: '2.0', id: message?.id, error: { code: -5, message: 'no' } } }),
    200,
    -5,
    'error -5 from target a',
  ],
  ['breaks off', () => ({ events: [], breaks: true }), 200, -32603, 'error -32603 from target a'],
]

for (const [name, failing, status, code, noted] of failures) {
  test(`a list fails when one target ${name}`, async () => {
    const { client } = await start({ a: target(failing), b: healthy })
    const received = await client.request(1, 'tools/list')
    expect(received.status).toBe(status)
    expect(received.messages).toMatchObject([{ error: { code } }])
    expect(received.exchange.mcp?.toleratedFailures).toBeUndefined()
  })

  verifies('backend.mcp/fail-open-runtime', `a list omits a target that ${name}`, async () => {
    const { client } = await start({ a: target(failing), b: healthy }, mcpPlan(['a', 'b'], { failureMode: 'FailOpen' }))
    const received = await client.request(1, 'tools/list')
    expect(namesIn(received.messages[0])).toEqual(['b_y'])
    expect(received.exchange.mcp?.toleratedFailures).toEqual([noted])
  })
}

test('the time of the answer of a target that breaks off is not known', async () => {
  const breaking = target(() => ({ events: [], breaks: true }))
  const { client } = await start({ a: breaking, b: healthy }, mcpPlan(['a', 'b'], { failureMode: 'FailOpen' }))
  const { exchange } = await client.request(1, 'tools/list')
  const isKnown = exchange.attempts?.map(({ endpoint, endedMs }) => [endpoint, endedMs !== undefined])
  expect(isKnown).toEqual([
    ['a', false],
    ['b', true],
  ])
})

const deny = (expression: string) =>
  compileTestMcp({ targets: [{ name: 'a' }, { name: 'b' }] }, [
    { authorization: { action: 'Deny', policy: { matchExpressions: [expression] } } },
  ]).plan

verifies('backend.mcp.authorization/list-filtered', 'items are tested by their own names', async () => {
  const targets = { a: lists({ 'tools/list': tools('x', 'y') }), b: lists({ 'tools/list': tools('x', 'y') }) }
  const { client } = await start(targets, deny('mcp.tool.target == "b" && mcp.tool.name == "x"'))
  const { messages, exchange } = await client.request(1, 'tools/list')
  expect(namesIn(messages[0])).toEqual(['a_x', 'a_y', 'b_y'])
  expect(exchange.mcp).toMatchObject({ method: 'tools/list', target: undefined, name: undefined })
})

verifies(
  'backend.mcp.authorization/list-filtered',
  'templates are resources; a broken rule hides everything',
  async () => {
    const templates = { 'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'm://{id}' }] } }
    const targets = { a: lists(templates), b: lists({}) }
    const hidden = await start(targets, deny('mcp.resource.name == "m://{id}"'))
    expect((await hidden.client.request(1, 'resources/templates/list')).messages[0]?.result).toEqual({
      resourceTemplates: [],
    })
    const broken = await start(targets, deny('mcp.tool.'))
    expect((await broken.client.request(1, 'resources/templates/list')).messages[0]?.result).toEqual({
      resourceTemplates: [],
    })
  },
)

test('items in doubt because of a limit are left out, and the log learns why', async () => {
  const endless = 'lists.range(100000).exists(x, lists.range(100000).exists(y, mcp.tool.name == "none"))'
  const { plan } = compileTestMcp({ targets: [{ name: 'a' }] }, [
    { authorization: { action: 'Deny', policy: { matchExpressions: [endless] } } },
  ])
  const { client } = await start({ a: lists({ 'tools/list': tools('x', 'y') }) }, plan)
  const received = await client.request(1, 'tools/list')
  expect(namesIn(received.messages[0])).toEqual([])
  expect(received.exchange.refusal).toBe('authorization-exceeded')
})
