import { expect, test } from 'vitest'
import { fakeTargets, TestClient, target } from '#test/support/fake-targets.ts'
import { compileTestMcp } from '#test/support/mcp-plan.ts'

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']

/** Methods about an item, which a Deny rule refuses. */
const ITEMS = [
  'tools/call',
  'prompts/get',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'tasks/get',
  'tasks/result',
  'tasks/update',
  'tasks/cancel',
  'subscriptions/listen',
]

/** Requests of targets, methods of extensions, and names that only look like notifications. */
const UNKNOWN = [
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  'x-vendor/run',
  'tools/CALL',
  'Notifications/x',
  'notifications',
]

const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'tasks/list']
const OTHERS = ['initialize', 'ping', 'logging/setLevel', 'server/discover']

const NOTIFICATIONS = ['notifications/roots/list_changed', 'notifications/tasks/status']

/** Tells what the client wrote from what the gateway writes. */
const MARK = 'forbidden-item'

function paramsOf(revision: string): object {
  return {
    name: MARK,
    uri: `file:///${MARK}`,
    taskId: MARK,
    ref: { type: 'ref/resource', uri: `file:///${MARK}` },
    notifications: { resourceSubscriptions: [`file:///${MARK}`] },
    protocolVersion: revision,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    },
  }
}

type Form =
  | 'a request'
  | 'without id'
  | 'with id null'
  | 'in a batch'
  | 'in a batch without id'
  | 'as answer'
  | 'as error'

const FORMS: Readonly<Record<Form, (message: object) => object>> = {
  'a request': (message) => ({ ...message, id: 7 }),
  'without id': (message) => message,
  'with id null': (message) => ({ ...message, id: null }),
  'in a batch': (message) => [{ ...message, id: 7 }],
  'in a batch without id': (message) => [message],
  'as answer': (message) => ({ ...message, id: 7, result: {} }),
  'as error': (message) => ({ ...message, error: { code: -1, message: 'x' } }),
}

const answering = target(({ message }) => ({ json: { jsonrpc: '2.0', id: message?.id, result: {} } }), {
  tools: {},
  prompts: {},
  resources: {},
  completions: {},
  logging: {},
  tasks: { list: {} },
})

/** @returns the methods that targets got with what the client wrote */
async function methodsSent(revision: string, targets: readonly string[], message: object, method: string) {
  const denies = { authorization: { action: 'Deny', policy: { matchExpressions: ['true'] } } } as const
  const { plan } = compileTestMcp({ targets: targets.map((name) => ({ name })) }, [denies])
  const { call, seen } = fakeTargets({ a: answering, b: answering })
  const client = new TestClient(plan, call)
  const isModern = revision === '2026-07-28'
  if (!isModern) await client.initialize()
  seen.length = 0
  const name = method === 'resources/read' ? `file:///${MARK}` : MARK
  const headers = {
    'mcp-protocol-version': revision,
    ...(isModern && { 'mcp-method': method, 'mcp-name': name, 'mcp-session-id': undefined }),
  }
  await client.send({ headers, message, leaves: () => true })
  return seen.flatMap(({ message: sent, text }) => (text.includes(MARK) ? [sent?.method ?? 'a response'] : []))
}

const cases = REVISIONS.flatMap((revision) =>
  Object.keys(FORMS).flatMap((form) => [
    { revision, form: form as Form, targets: ['a'] },
    { revision, form: form as Form, targets: ['a', 'b'] },
  ]),
)

test.each(cases)('a Deny rule holds in $revision for messages $form, targets $targets', async (one) => {
  const { revision, form, targets } = one
  const passed: string[] = []
  for (const method of [...ITEMS, ...UNKNOWN, ...LISTS, ...OTHERS, ...NOTIFICATIONS]) {
    const message = FORMS[form]({ jsonrpc: '2.0', method, params: paramsOf(revision) })
    for (const sent of await methodsSent(revision, targets, message, method))
      if (!passed.includes(sent)) passed.push(sent)
  }
  const harmless = form === 'a request' ? [...LISTS, ...OTHERS] : form === 'without id' ? NOTIFICATIONS : []
  expect(passed.filter((method) => !harmless.includes(method))).toEqual([])
})

test('what the client writes does reach targets where no rule forbids it', async () => {
  const message = { jsonrpc: '2.0', id: 7, method: 'logging/setLevel', params: paramsOf('2025-11-25') }
  expect(await methodsSent('2025-11-25', ['a', 'b'], message, 'logging/setLevel')).toEqual([
    'logging/setLevel',
    'logging/setLevel',
  ])
  const notification = { jsonrpc: '2.0', method: 'notifications/tasks/status', params: paramsOf('2025-11-25') }
  expect(await methodsSent('2025-11-25', ['a'], notification, notification.method)).toEqual([notification.method])
})

test('a request without an id is refused in JSON-RPC, for the log too', async () => {
  const { call, seen } = fakeTargets({ a: answering })
  const client = new TestClient(compileTestMcp({ targets: [{ name: 'a' }] }).plan, call)
  await client.initialize()
  seen.length = 0
  const { status, messages, exchange } = await client.notify('tools/call', { name: 'x' })
  expect([status, exchange.refusal, exchange.refusalDetail]).toEqual([
    400,
    'mcp-message-invalid',
    'the message is a request without an id',
  ])
  expect(messages).toEqual([{ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'the request has no id' } }])
  expect(seen).toEqual([])
})

test.each([
  ['an event', (messages: readonly object[]) => ({ events: messages })],
  ['JSON', ([first]: readonly object[]) => ({ json: first })],
])('a request without an id from a target in %s does not reach the client', async (_, reply) => {
  const asking = target(({ message }) =>
    reply([
      { jsonrpc: '2.0', method: 'sampling/createMessage', params: { messages: [] } },
      { jsonrpc: '2.0', id: message?.id, result: { content: [] } },
    ]),
  )
  const client = new TestClient(compileTestMcp({ targets: [{ name: 'a' }] }).plan, fakeTargets({ a: asking }).call)
  await client.initialize()
  const { messages, text } = await client.request(1, 'tools/call', { name: 'x' })
  expect(text).not.toContain('sampling/createMessage')
  expect(messages).toHaveLength(1)
})
