import { expect, test } from 'vitest'
import { roomFor } from '#net/testing/room-for.ts'
import { LocalChannels } from '#state/channels.ts'
import {
  type FakeReply,
  type FakeTarget,
  fakeTargets,
  type SeenCall,
  TestClient,
  target,
} from '#test/support/fake-targets.ts'
import { compileTestMcp, mcpPlan } from '#test/support/mcp-plan.ts'
import { verifies } from '#test/support/verifies.ts'

const double = mcpPlan(['a', 'b'])
const single = mcpPlan(['a'])

const answer = ({ message }: SeenCall, result: object = { ok: true }) => ({ jsonrpc: '2.0', id: message?.id, result })
const echo: FakeTarget = target((call) => ({ json: answer(call) }))

async function start(a: FakeTarget = echo, plan = double) {
  const { call, seen } = fakeTargets({ a, b: echo })
  const client = new TestClient(plan, call)
  await client.initialize()
  seen.length = 0
  return { client, seen }
}

const routed: [method: string, params: object, target: string, sent: object, facts: object][] = [
  [
    'tools/call',
    { name: 'b_x', arguments: { n: 1 } },
    'b',
    { name: 'x', arguments: { n: 1 } },
    { resourceType: 'tool', name: 'x' },
  ],
  ['prompts/get', { name: 'a_x_y' }, 'a', { name: 'x_y' }, { resourceType: 'prompt', name: 'x_y' }],
  ['resources/read', { uri: 'a+m://x' }, 'a', { uri: 'm://x' }, { resourceType: 'resource', name: 'm://x' }],
  ['resources/subscribe', { uri: 'b+m://x' }, 'b', { uri: 'm://x' }, { resourceType: 'resource', name: 'm://x' }],
  ['resources/unsubscribe', { uri: 'b+m://x' }, 'b', { uri: 'm://x' }, { resourceType: 'resource', name: 'm://x' }],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'b_p' }, argument: { name: 'x', value: 'b_' }, context: { arguments: {} } },
    'b',
    { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'x', value: 'b_' }, context: { arguments: {} } },
    { resourceType: 'prompt', name: 'p' },
  ],
  [
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'a+m://{x}' } },
    'a',
    { ref: { type: 'ref/resource', uri: 'm://{x}' } },
    { resourceType: 'resource', name: 'm://{x}' },
  ],
]

test.each(routed)('%s %o goes to %s', async (method, params, owner, sent, facts) => {
  const { client, seen } = await start()
  const { messages, exchange } = await client.request(9, method, params)
  expect(messages).toEqual([{ jsonrpc: '2.0', id: 9, result: { ok: true } }])
  expect(seen).toMatchObject([{ target: owner, message: { id: 9, method, params: sent } }])
  expect(exchange.mcp).toMatchObject({ method, target: owner, ...facts })
})

test.each([
  ['tools/call', { name: 'x' }, 'Unknown tool: x'],
  ['tools/call', { name: 'c_x' }, 'Unknown tool: c_x'],
  ['prompts/get', { name: 'x' }, 'Unknown prompt: x'],
  ['resources/read', { uri: 'm://x' }, 'Unknown resource: m://x'],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'x' } }, 'Unknown prompt: x'],
])('%s %o names nothing', async (method, params, message) => {
  const { client, seen } = await start()
  const received = await client.request(9, method, params)
  expect(received.status).toBe(200)
  expect(received.headers['content-type']).toBe('application/json')
  expect(received.messages).toEqual([{ jsonrpc: '2.0', id: 9, error: { code: -32602, message } }])
  expect(seen).toEqual([])
})

test.each([
  ['tools/call', undefined],
  ['tools/call', { name: 7 }],
  ['resources/read', { name: 'x' }],
  ['completion/complete', { ref: 'x' }],
])('%s with parameters %o is invalid', async (method, params) => {
  const { client } = await start()
  expect(await client.request(9, method, params)).toMatchObject({
    status: 200,
    messages: [{ error: { code: -32602 } }],
  })
})

test('a message that needs no change is forwarded unchanged', async () => {
  const { client, seen } = await start(echo, single)
  const text = '{ "jsonrpc":"2.0", "id":1, "method":"tools/call", "params":{"name":"x","arguments":{"n":1.0}} }'
  await client.send({ message: text })
  expect(seen[0]?.text).toBe(text)
})

test('large numbers in arguments survive a change', async () => {
  const { client, seen } = await start()
  const text =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a_x","arguments":{"n":9007199254740993}}}'
  await client.send({ message: text })
  expect(seen[0]?.text).toBe(text.replace('a_x', 'x'))
})

test('a rule that a limit ended allows nothing, whatever its action is', async () => {
  const endless = 'lists.range(100000).exists(x, lists.range(100000).exists(y, mcp.tool.name == "none"))'
  const { plan } = compileTestMcp({ targets: [{ name: 'a' }, { name: 'b' }] }, [
    { authorization: { action: 'Deny', policy: { matchExpressions: [endless] } } },
  ])
  const { client, seen } = await start(echo, plan)
  const received = await client.request(9, 'tools/call', { name: 'a_x' })
  expect(received).toMatchObject({ status: 200, messages: [{ error: { code: -32602, message: 'Unknown tool: a_x' } }] })
  expect(received.exchange.refusal).toBe('authorization-exceeded')
  expect(received.exchange.refusalDetail).toContain('evaluation takes too many steps')
  expect(seen).toEqual([])
})

verifies('backend.mcp.authorization/call-refused', 'every request for an item is tested', async () => {
  const { plan } = compileTestMcp({ targets: [{ name: 'a' }, { name: 'b' }] }, [
    {
      authorization: {
        action: 'Deny',
        policy: {
          matchExpressions: ['mcp.tool.name == "x"', 'mcp.prompt.name == "x"', 'mcp.resource.name == "m://x"'],
        },
      },
    },
  ])
  const { client, seen } = await start(echo, plan)
  for (const [method, params] of [
    ['tools/call', { name: 'a_x' }],
    ['prompts/get', { name: 'b_x' }],
    ['resources/read', { uri: 'a+m://x' }],
    ['resources/subscribe', { uri: 'a+m://x' }],
    ['resources/unsubscribe', { uri: 'a+m://x' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'a_x' } }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'a+m://x' } }],
  ] as const) {
    const received = await client.request(9, method, params)
    expect(received, method).toMatchObject({ status: 200, messages: [{ error: { code: -32602 } }] })
    expect(received.exchange.refusal).toBe('authorization-denied')
  }
  expect(seen).toEqual([])
  expect((await client.request(9, 'tools/call', { name: 'a_y' })).status).toBe(200)
})

const onArguments = (expression: string) =>
  compileTestMcp({ targets: [{ name: 'a' }, { name: 'b' }] }, [
    { authorization: { action: 'Deny', policy: { matchExpressions: [expression] } } },
  ]).plan

test.each<[args: string, sent: boolean | 'ambiguous']>([
  ['{"path":"/tmp/x"}', true],
  ['{"path":"/etc/x"}', false],
  ['{"path":["/etc/x"]}', false],
  ['{"p\\u0061th":"/etc/x"}', false],
  ['{"path":"/tmp/x","path":"/etc/x"}', 'ambiguous'],
  ['{"path":"/etc/x","path":"/tmp/x"}', 'ambiguous'],
  ['{"path":"/tmp/x","p\\u0061th":"/etc/x"}', 'ambiguous'],
  ['{"path":"/tmp/x","Path":"/etc/x"}', 'ambiguous'],
  ['{"path":"/tmp/x","options":{"a":1,"a":2}}', 'ambiguous'],
  ['{"path":"/tmp/x","list":[{"PATH":1}]}', 'ambiguous'],
  // Names that no rule contains.
  ['{"path":"/tmp/x","other":1,"Other":2}', true],
  [`{"path":"/tmp/x","deep":${'['.repeat(990)}${']'.repeat(990)}}`, true],
  [`{"path":"/tmp/x","deep":${'{"a":'.repeat(900)}{"path":1,"Path":2}${'}'.repeat(900)}}`, 'ambiguous'],
])('with a rule about the argument path, a call with %.60s is sent: %s', async (args, sent) => {
  const { client, seen } = await start(
    echo,
    onArguments('mcp.tool.name == "x" && mcp.tool.arguments.path.startsWith("/etc/")'),
  )
  const text = `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a_x","arguments":${args}}}`
  const { messages, exchange, status } = await client.send({ message: text })
  expect(seen).toHaveLength(sent === true ? 1 : 0)
  if (sent === true) return expect(messages[0]?.result).toBeDefined()
  expect([status, messages[0]?.error?.code, exchange.refusal]).toEqual(
    sent === 'ambiguous' ? [400, -32600, 'mcp-message-ambiguous'] : [200, -32602, 'authorization-denied'],
  )
})

test('arguments that no rule reads may be ambiguous, and rules hide no tool for its arguments', async () => {
  const text = '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"b_x","arguments":{"a":1,"a":2,"A":3}}}'
  const { client, seen } = await start(echo, onArguments('mcp.tool.name == "secret"'))
  expect((await client.send({ message: text })).messages[0]?.result).toBeDefined()
  expect(seen[0]?.text).toContain('"arguments":')
})

test.each(['tasks/get', 'tasks/result', 'tasks/cancel'])('%s of a task that rules hide is refused', async (method) => {
  const { plan } = compileTestMcp({ targets: [{ name: 'a' }, { name: 'b' }] }, [
    { authorization: { action: 'Require', policy: { matchExpressions: ['has(mcp.task) && mcp.task.target == "b"'] } } },
    { authorization: { action: 'Deny', policy: { matchExpressions: ['mcp.task.name.startsWith("secret-")'] } } },
  ])
  const { client, seen } = await start(echo, plan)
  for (const taskId of ['a+1', 'b+secret-1']) {
    const { messages, exchange } = await client.request(9, method, { taskId })
    expect(messages).toEqual([{ jsonrpc: '2.0', id: 9, error: { code: -32602, message: `Unknown task: ${taskId}` } }])
    expect(exchange.refusal).toBe('authorization-denied')
  }
  expect(seen).toEqual([])
  expect((await client.request(9, method, { taskId: 'b+1' })).messages[0]?.result).toBeDefined()
  expect(seen).toMatchObject([{ target: 'b', message: { params: { taskId: '1' } } }])
})

test('a rule for tools refuses tasks, too', async () => {
  const { plan, problems } = compileTestMcp({ targets: [{ name: 'a' }] }, [
    { authorization: { action: 'Allow', policy: { matchExpressions: ['mcp.tool.name == "x"'] } } },
  ])
  expect(problems).toEqual(['spec.backend.mcp.authorization.policy.matchExpressions[0] rule-hides-kind'])
  const { client } = await start(echo, plan)
  expect((await client.request(9, 'tools/call', { name: 'x' })).messages[0]?.error).toBeUndefined()
  const { messages } = await client.request(9, 'tasks/get', { taskId: '1' })
  expect(messages[0]?.error?.message).toBe('Unknown task: 1')
})

test('contents have the URIs that the client uses', async () => {
  const contents = [{ uri: 'm://x', text: 'hi' }, { text: 'no URI' }]
  const { client } = await start(target((call) => ({ json: answer(call, { contents }) })))
  const { messages } = await client.request(9, 'resources/read', { uri: 'a+m://x' })
  expect(messages[0]?.result).toEqual({ contents: [{ uri: 'a+m://x', text: 'hi' }, { text: 'no URI' }] })
})

const failures: [name: string, reply: FakeReply, status: number, code: number, refusal: string | undefined][] = [
  ['connect', { failure: 'connect-failed' }, 503, -32603, 'upstream-failed'],
  ['timeout', { failure: 'timeout' }, 504, -32603, 'upstream-timeout'],
  ['no endpoint', { failure: 'no-endpoint' }, 503, -32603, 'mcp-targets-unavailable'],
  ['credentials', { failure: 'backend-auth-failed' }, 500, -32603, 'backend-auth-failed'],
  ['HTTP error', { status: 404, json: { error: { code: 1, message: 'gone' } } }, 404, 1, undefined],
  ['accepted only', {}, 200, -32603, undefined],
  ['wrong media type', { json: '<p>', headers: { 'content-type': 'text/html' } }, 503, -32603, 'upstream-failed'],
  ['broken stream', { events: [], breaks: true }, 200, -32603, undefined],
  ['early end', { events: [] }, 200, -32603, undefined],
  ['no message', { json: '[]' }, 200, -32603, undefined],
]

test.each(failures)('a target fails: %s', async (_, reply, status, code, refusal) => {
  const { client } = await start(target(() => reply))
  const received = await client.request(9, 'tools/call', { name: 'a_x' })
  expect(received.status).toBe(status)
  expect(received.messages).toMatchObject([{ error: { code } }])
  expect(received.exchange.refusal).toBe(refusal)
})

test('an error of the target is passed on and noted', async () => {
  const error = { code: -32002, message: 'not found', data: { uri: 'x' } }
  const { client } = await start(target(({ message }) => ({ json: { jsonrpc: '2.0', id: message?.id, error } })))
  const { messages, exchange } = await client.request(9, 'resources/read', { uri: 'a+m://x' })
  expect(messages).toEqual([{ jsonrpc: '2.0', id: 9, error }])
  expect(exchange.mcp?.errorCode).toBe(-32002)
})

test('a single target keeps its event ids, so that clients can resume', async () => {
  const events = ['id: 1\nretry: 300\ndata:\n\n', 'id: 2\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n']
  const { client } = await start(
    target(() => ({ events })),
    single,
  )
  const { text } = await client.request(9, 'tools/call', { name: 'x' })
  expect(text).toBe(
    'id: 1\nretry: 300\ndata: \n\nevent: message\nid: 2\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n',
  )
})

test('an end without a response is an error if the stream cannot be resumed', async () => {
  const { client } = await start(target(() => ({ events: [] })))
  const { messages } = await client.request(9, 'tools/call', { name: 'a_x' })
  expect(messages).toMatchObject([{ id: 9, error: { code: -32603 } }])
})

test('of several targets a response is resumed at the target that began it, and nothing else passes', async () => {
  const other = { jsonrpc: '2.0', id: 8, result: { of: 'another request' } }
  const polling = target((call) => {
    if (call.method === 'POST') return { events: ['id: 1\nretry: 50\ndata:\n\n'] }
    return { events: [other, `id: 2\ndata: {"jsonrpc":"2.0","id":9,"result":{"late":true}}\n\n`, other] }
  })
  const { client, seen } = await start(polling)
  const { text } = await client.request(9, 'tools/call', { name: 'a_x' })
  const [, id] = /^id: (\S+)\nretry: 50\ndata: \n\n$/.exec(text)!
  expect(id).not.toBe('1')
  seen.length = 0
  const resumed = await client.send({ method: 'GET', headers: { 'last-event-id': id } })
  expect(resumed.messages).toEqual([{ jsonrpc: '2.0', id: 9, result: { late: true } }])
  expect(seen.map((call) => [call.target, call.method, call.headers['last-event-id']])).toEqual([['a', 'GET', '1']])
})

test('the answer ends the stream, whatever the target sends after it', async () => {
  const late = { jsonrpc: '2.0', method: 'notifications/x' }
  const { client } = await start(target((call) => ({ events: [answer(call), late] })))
  expect((await client.request(9, 'tools/call', { name: 'a_x' })).messages).toHaveLength(1)
})

test('ids are compared with their type', async () => {
  const { client } = await start(target((call) => ({ events: [{ ...answer(call), id: '9' }, answer(call)] })))
  const { messages } = await client.request(9, 'tools/call', { name: 'a_x' })
  expect(messages.map(({ id }) => id)).toEqual([9])
})

test.each<[what: string, reply: (call: SeenCall, result: object) => FakeReply]>([
  ['JSON', (call, result) => ({ json: answer(call, result) })],
  ['a stream', (call, result) => ({ events: [answer(call, result)] })],
])('answers of targets take memory: %s', async (_, reply) => {
  const { claim, memory } = roomFor(0, 1000)
  const owner = target((call) => reply(call, { text: 'x'.repeat(Number(call.message?.params?.name)) }))
  const client = new TestClient(double, fakeTargets({ a: owner, b: echo }).call, { claim })
  await client.initialize()
  const small = await client.request(9, 'tools/call', { name: 'a_100' })
  expect(small.messages).toMatchObject([{ id: 9, result: {} }])
  const large = await client.request(9, 'tools/call', { name: 'a_1000' })
  const limit =
    'no memory is left for the response of the target: the requests of this worker use all memory for bodies (GATEWRIGHT_BODY_MEMORY)'
  expect(large.messages).toMatchObject([
    { id: 9, error: { code: -32603, message: `the stream from a target failed: ${limit}` } },
  ])
  expect(large.exchange.refusalDetail).toBe(limit)
  claim.release()
  expect(memory.heldBytes).toBe(0)
})

const payloadOf = async (
  reply: FakeReply | ((call: SeenCall) => FakeReply),
  maxKept?: number,
  given: object = { n: 1 },
) => {
  const owner = target((call) => (typeof reply === 'function' ? reply(call) : reply))
  const client = new TestClient(double, fakeTargets({ a: owner, b: echo }).call, { maxKept })
  await client.initialize()
  const { exchange } = await client.request(9, 'tools/call', { name: 'a_x', arguments: given })
  return exchange.mcp?.toolCall && { ...exchange.mcp.toolCall, arguments: exchange.mcp.toolArguments }
}

test('arguments and results of a tool are kept if an expression reads them', async () => {
  expect(await payloadOf((call) => ({ json: answer(call) }))).toBeUndefined()
  expect(await payloadOf((call) => ({ json: answer(call) }), 1000)).toMatchObject({
    arguments: { n: 1 },
    result: { ok: true },
    error: undefined,
  })
  const failing = { code: -32000, message: 'no', data: { why: 1 } }
  expect(await payloadOf({ json: { jsonrpc: '2.0', id: 9, error: failing } }, 1000)).toMatchObject({
    arguments: { n: 1 },
    result: undefined,
    error: failing,
  })
})

test('the first response of a stream counts, unless it is too long', async () => {
  const events = (call: SeenCall) => ({
    events: [
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
      answer(call, { first: true }),
      answer(call, { second: true }),
    ],
  })
  expect((await payloadOf(events, 1000))?.result).toEqual({ first: true })
  const long = (call: SeenCall) => ({ json: answer(call, { text: 'x'.repeat(1000) }) })
  expect(await payloadOf(long, 1000)).toMatchObject({ arguments: { n: 1 }, result: undefined, error: undefined })
})

test('a call without arguments has empty ones; prompts have no arguments of tools', async () => {
  const { call } = fakeTargets({ a: echo, b: echo })
  const client = new TestClient(double, call, { maxKept: 1000 })
  await client.initialize()
  for (const [method, params] of [
    ['tools/call', { name: 'a_x' }],
    ['prompts/get', { name: 'a_x', arguments: { secret: 1 } }],
  ] as const) {
    const { exchange } = await client.request(9, method, params)
    expect(exchange.mcp?.toolArguments).toEqual(method === 'tools/call' ? {} : undefined)
    expect(exchange.mcp?.toolCall?.result).toEqual(method === 'tools/call' ? { ok: true } : undefined)
  }
})

test('the arguments of a refused call are kept as well', async () => {
  const deny = { authorization: { action: 'Deny', policy: { matchExpressions: ['mcp.tool.name == "x"'] } } } as const
  const { plan } = compileTestMcp({ targets: [{ name: 'a' }, { name: 'b' }] }, [deny])
  const { call, seen } = fakeTargets({ a: echo, b: echo })
  const client = new TestClient(plan, call, { maxKept: 1000 })
  await client.initialize()
  seen.length = 0
  const { exchange, status } = await client.request(9, 'tools/call', { name: 'a_x', arguments: { n: 1 } })
  expect([status, seen]).toEqual([200, []])
  expect(exchange.mcp?.toolArguments).toEqual({ n: 1 })
  expect(exchange.mcp?.toolCall).toMatchObject({ result: undefined, error: undefined })
})

test.each(['with its head', 'later'])(
  'a call is over when it is answered, with a body that arrives %s',
  async (when) => {
    const channels = new LocalChannels('w1')
    const { call } = fakeTargets({ a: echo })
    const client = new TestClient(
      single,
      async (destination, request) => {
        const response = await call(destination, request)
        if (when === 'later') return response
        const arrived = Buffer.concat(await Array.fromAsync(response.body))
        return { ...response, takeArrived: () => arrived }
      },
      { channels },
    )
    await client.initialize()
    const { messages } = await client.request(9, 'tools/call', { name: 'x' })
    expect([messages, channels.openChannels]).toEqual([[{ jsonrpc: '2.0', id: 9, result: { ok: true } }], []])
  },
)
