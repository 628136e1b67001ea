import { expect, test } from 'vitest'
import {
  type FakeReply,
  type FakeTarget,
  fakeTargets,
  initializeMessage,
  type Received,
  type SeenCall,
  TestClient,
} from '#test/support/fake-targets.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'

/** Clients with sessions in front of targets without. */

type Round = (id: unknown) => FakeReply

/** A target without sessions. @param answer responds to its other requests; `reply` converts them to a result */
function sessionless(answer: (call: SeenCall, reply: (result: object) => FakeReply) => FakeReply): FakeTarget {
  return (call) => {
    const { id, method } = call.message!
    const reply = (result: object) => ({ json: { jsonrpc: '2.0', id, result } })
    if (method === 'initialize')
      return { status: 400, json: { jsonrpc: '2.0', id, error: { code: -32022, message: '' } } }
    if (method === 'server/discover') return reply({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } })
    return id === undefined ? {} : answer(call, reply)
  }
}

/** A target that asks for a colour in the first round of a call. */
function asking(second: Round): FakeTarget {
  return sessionless(({ message }, reply) => {
    const { id, params } = message!
    if (params?.inputResponses !== undefined) return second(id)
    const inputRequests = { colour: { method: 'elicitation/create', params: {} } }
    return reply({ resultType: 'input_required', inputRequests, requestState: 'first' })
  })
}

async function callAndAnswer(second: Round): Promise<Received> {
  const client = new TestClient(mcpPlan(['a']), fakeTargets({ a: asking(second) }).call)
  await client.initialize()
  let isAnswered = false
  return client.send({
    message: { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'x' } },
    leaves: (text) => {
      const asked = isAnswered ? undefined : /^data: (.*elicitation.*)$/m.exec(text)
      if (asked === undefined || asked === null) return false
      isAnswered = true
      const { id } = JSON.parse(asked[1]!) as { readonly id: string }
      void client.send({ message: { jsonrpc: '2.0', id, result: { action: 'accept', content: { colour: 'red' } } } })
      return false
    },
  })
}

test('the error of a later round reaches the client as it is', async () => {
  const error = { code: -32602, message: 'no such colour', data: { asked: 'red' } }
  const { messages } = await callAndAnswer((id) => ({ status: 400, json: { jsonrpc: '2.0', id, error } }))
  expect(messages).toMatchObject([{ method: 'elicitation/create' }, { id: 7, error }])
})

test.each<[string, FakeReply, string]>([
  ['a status', { status: 500, json: 'no' }, 'status 500 from target a'],
  ['a refusal without a message', { status: 400, json: 'no' }, 'status 400 from target a'],
  ['a lost connection', { failure: 'reset' }, 'reset from target a'],
  ['no response', { status: 202 }, 'no response from target a'],
])('the log says why a later round failed: %s', async (_, reply, detail) => {
  const { messages, exchange } = await callAndAnswer(() => reply)
  expect(messages.at(-1)).toMatchObject({ id: 7, error: { code: -32603 } })
  expect(exchange.refusalDetail).toBe(`the target did not accept the input of the client: ${detail}`)
})

test.each<[object, string]>([
  [{ resultType: 'task', taskId: 't', status: 'working' }, '"task"'],
  [{ resultType: 'partial', content: [] }, '"partial"'],
  [{ resultType: null, content: [] }, 'null'],
  [{ resultType: 'x'.repeat(200) }, `"${'x'.repeat(99)}`],
])(
  'a result that is not complete is an error for a client that knows complete ones only: %j',
  async (result, named) => {
    const { messages, exchange } = await callAndAnswer((id) => ({ json: { jsonrpc: '2.0', id, result } }))
    expect(messages.at(-1)).toMatchObject({ id: 7, error: { code: -32603 } })
    expect(exchange.refusalDetail).toBe(`the target did not complete the request: resultType ${named}`)
  },
)

test.each([{ content: [] }, { resultType: 'complete', content: [] }])('%j is complete', async (result) => {
  const { messages } = await callAndAnswer((id) => ({ json: { jsonrpc: '2.0', id, result } }))
  expect(messages.at(-1)).toEqual({ jsonrpc: '2.0', id: 7, result: { content: [] } })
})

test('tasks of targets without sessions are not offered; a call for one is a call', async () => {
  const extensions = { 'io.modelcontextprotocol/tasks': {}, other: {} }
  const { call, seen } = fakeTargets({
    a: ({ message }) => {
      const { id, method, params } = message!
      const reply = (result: object) => ({ json: { jsonrpc: '2.0', id, result } })
      if (method === 'initialize') return { status: 404 }
      if (method === 'server/discover') {
        return reply({ supportedVersions: ['2026-07-28'], capabilities: { tools: {}, extensions } })
      }
      return id === undefined ? {} : reply({ resultType: 'complete', content: [], task: params?.task === undefined })
    },
  })
  const client = new TestClient(mcpPlan(['a']), call)
  const capabilities = { tasks: { cancel: {} }, extensions, elicitation: {} }
  const { messages } = await client.send({ message: initializeMessage({ capabilities }) })
  expect(messages).toMatchObject([{ result: { capabilities: { tools: {}, extensions: { other: {} } } } }])
  expect(JSON.stringify(messages)).not.toContain('modelcontextprotocol/tasks')
  client.sessionId = (await client.initialize()).headers['mcp-session-id']
  const called = await client.request(1, 'tools/call', { name: 'x', task: { ttl: 1000 } })
  expect(called.messages).toEqual([{ jsonrpc: '2.0', id: 1, result: { content: [], task: true } }])
  expect(JSON.stringify(seen.at(-1)?.message)).not.toContain('modelcontextprotocol/tasks')
  expect((await client.request(2, 'tasks/get', { taskId: 't' })).messages).toMatchObject([{ error: { code: -32601 } }])
})

test('a call that lacks header fields is sent again with those that the list of tools names', async () => {
  const { call, seen } = fakeTargets({
    a: sessionless(({ message, headers }, reply) => {
      const { id, method } = message!
      const inputSchema = { properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } }
      if (method === 'tools/list') return reply({ tools: [{ name: 'x', inputSchema }] })
      return headers['mcp-param-region'] === 'eu'
        ? reply({ content: [] })
        : { status: 400, json: { jsonrpc: '2.0', id, error: { code: -32020, message: 'no field' } } }
    }),
  })
  const client = new TestClient(mcpPlan(['a']), call)
  await client.initialize()
  const params = { name: 'x', arguments: { region: 'eu' } }
  const { messages } = await client.send({ message: { jsonrpc: '2.0', id: 7, method: 'tools/call', params } })
  expect(messages).toMatchObject([{ id: 7, result: { content: [] } }])
  expect(seen.filter(({ message }) => message?.method === 'tools/call')).toHaveLength(2)
})

/** A target whose tool wants arguments repeated in header fields. */
const WITH_FIELDS = sessionless(({ message, headers }, reply) => {
  const { id, method } = message!
  if (method === 'tools/list') {
    const properties = {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      size: { type: 'integer', 'x-mcp-header': 'Size' },
      hasMore: { type: 'boolean', 'x-mcp-header': 'Has-More' },
      place: { type: 'object', 'x-mcp-header': 'Place' },
      broken: { type: 'string', 'x-mcp-header': 'Broken\r\nX-Other: 1' },
      cookie: { type: 'string', 'x-mcp-header': 7 },
      other: { type: 'string' },
    }
    return reply({ tools: [{ name: 'x', inputSchema: { type: 'object', properties } }] })
  }
  if (headers['mcp-param-region'] !== undefined) return reply({ content: [] })
  return { status: 400, json: { jsonrpc: '2.0', id, error: { code: -32020, message: 'mcp-param-region is missing' } } }
})

test('arguments that a target wants in header fields are repeated there; its tools are listed once', async () => {
  const { call, seen } = fakeTargets({ a: WITH_FIELDS })
  const client = new TestClient(mcpPlan(['a']), call)
  await client.initialize()
  seen.length = 0
  const all = '{"region":"eu","size":9007199254740993,"hasMore":false,"place":{},"broken":"b","cookie":"c","other":"o"}'
  const text = (id: number, given: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"x","arguments":${given}}}`
  for (const [index, given] of [all, '{"region":" Zürich\\n"}', '{"region":"=?base64?eA==?="}'].entries()) {
    const { messages } = await client.send({ message: text(index, given) })
    expect(messages).toEqual([{ jsonrpc: '2.0', id: index, result: { content: [] } }])
  }
  const paramsOf = (headers: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('mcp-param-')))
  expect(seen.map(({ message, headers }) => [message?.method, paramsOf(headers)])).toEqual([
    ['tools/call', {}],
    ['tools/list', {}],
    ['tools/call', { 'mcp-param-region': 'eu', 'mcp-param-size': '9007199254740993', 'mcp-param-has-more': 'false' }],
    ['tools/call', { 'mcp-param-region': `=?base64?${btoa(' Z\xc3\xbcrich\n')}?=` }],
    ['tools/call', { 'mcp-param-region': `=?base64?${btoa('=?base64?eA==?=')}?=` }],
  ])
})

test('a target that still refuses the header fields refuses the call', async () => {
  const { call, seen } = fakeTargets({ a: WITH_FIELDS })
  const client = new TestClient(mcpPlan(['a']), call)
  await client.initialize()
  seen.length = 0
  const { messages } = await client.request(7, 'tools/call', { name: 'x', arguments: { other: 'o' } })
  expect(messages).toMatchObject([{ id: 7, error: { code: -32020 } }])
  expect(seen.map(({ message }) => message?.method)).toEqual(['tools/call', 'tools/list', 'tools/call'])
})
