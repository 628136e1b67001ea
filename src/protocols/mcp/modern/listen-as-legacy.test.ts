import { expect, test } from 'vitest'
import type { Exchange } from '#exchange/exchange.ts'
import { type FakeTarget, fakeTargets, type Received, TestClient } from '#test/support/fake-targets.ts'
import { compileTestMcp, MCP_BACKEND, mcpPlan } from '#test/support/mcp-plan.ts'
import { McpMemory } from '../request/mcp-memory.ts'

/** `subscriptions/listen` in front of targets with sessions, alone and beside one without. */

const note = (method: string, params?: object) => ({ jsonrpc: '2.0', method, ...(params && { params }) })

/** A server with a stream, on which it says this; undefined: it has no stream. */
function legacy(says: readonly object[] | undefined, capabilities: object = ALL): FakeTarget {
  return ({ method, message }) => {
    const { id } = message ?? {}
    const reply = (result: object) => ({ json: { jsonrpc: '2.0', id, result }, headers: { 'mcp-session-id': 's' } })
    if (message?.method === 'server/discover') return { status: 404 }
    if (message?.method === 'initialize') return reply({ protocolVersion: '2025-11-25', capabilities })
    if (method === 'GET' && says === undefined) return { status: 405 }
    if (method === 'GET') return { events: says ?? [] }
    if (message?.method === 'resources/subscribe' && message.params?.uri === 'a:refused') {
      return { json: { jsonrpc: '2.0', id, error: { code: -32602, message: 'no' } } }
    }
    return id === undefined ? {} : reply({})
  }
}

const ALL = { tools: {}, prompts: {}, resources: { subscribe: true } }

const modern: FakeTarget = ({ message }) => {
  const { id, method, params } = message ?? {}
  const result = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }
  if (method === 'server/discover') return { json: { jsonrpc: '2.0', id, result } }
  const { notifications } = params ?? {}
  const tag = { _meta: { 'io.modelcontextprotocol/subscriptionId': id } }
  return {
    events: [
      note('notifications/subscriptions/acknowledged', { notifications }),
      note('notifications/tools/list_changed', tag),
    ],
  }
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

function listen(
  targets: Readonly<Record<string, FakeTarget>>,
  notifications: object,
  leaves: (text: string, exchange: Exchange) => boolean,
  { memory = new McpMemory(), plan = mcpPlan(Object.keys(targets)) } = {},
): { readonly received: Promise<Received>; readonly seen: ReturnType<typeof fakeTargets>['seen'] } {
  const { call, seen } = fakeTargets(targets)
  const client = new TestClient(plan, call, { memory })
  const message = { jsonrpc: '2.0', id: 'l', method: 'subscriptions/listen', params: { notifications, _meta: META } }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
  return { received: client.send({ message, headers, leaves }), seen }
}

const tagged = { 'io.modelcontextprotocol/subscriptionId': 'l' }

test('the stream of a target has what the client wants, with the tag of its subscription', async () => {
  const target = legacy([
    note('notifications/prompts/list_changed'),
    note('notifications/resources/updated', { uri: 'a:other' }),
    note('notifications/message', { level: 'info', data: 'x' }),
    { jsonrpc: '2.0', id: 'p', method: 'ping' },
    { jsonrpc: '2.0', id: 'e', method: 'elicitation/create', params: {} },
    note('notifications/resources/updated', { uri: 'a:one', _meta: { own: 1 } }),
    note('notifications/tools/list_changed'),
  ])
  const wanted = { toolsListChanged: true, resourceSubscriptions: ['a:one', 'a:refused'] }
  const { received, seen } = listen({ a: target }, wanted, (text) => text.includes('tools/list_changed'))
  const { messages } = await received
  expect(messages).toEqual([
    note('notifications/subscriptions/acknowledged', {
      notifications: { toolsListChanged: true, resourceSubscriptions: ['a:one'] },
      _meta: tagged,
    }),
    note('notifications/resources/updated', { uri: 'a:one', _meta: { own: 1, ...tagged } }),
    note('notifications/tools/list_changed', { _meta: tagged }),
  ])
  const sent = seen.map(({ method, message }) => message?.method ?? message?.id ?? method)
  expect(sent.slice(0, 4)).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'GET'])
  expect(sent.filter((one) => one === 'resources/subscribe')).toHaveLength(2)
  expect(seen.find(({ message }) => message?.id === 'p')?.message?.result).toEqual({})
  expect(seen.find(({ message }) => message?.id === 'e')?.message?.error?.code).toBe(-32601)
  expect(sent).toContain('DELETE')
})

test('targets of both eras listen together with FailClosed', async () => {
  const targets = { a: legacy([note('notifications/resources/updated', { uri: 'm://x' })]), b: modern }
  const wanted = { toolsListChanged: true, resourceSubscriptions: ['a+m://x'] }
  const { received } = listen(targets, wanted, (text) => text.includes('/updated') && text.includes('list_changed'))
  const { messages } = await received
  expect(messages[0]?.params?.notifications).toEqual(wanted)
  expect(messages.slice(1)).toContainEqual(note('notifications/resources/updated', { uri: 'a+m://x', _meta: tagged }))
  expect(messages.slice(1)).toContainEqual(note('notifications/tools/list_changed', { _meta: tagged }))
})

test('a target without a stream accepts nothing, and the stream of the client stays open', async () => {
  const wanted = { toolsListChanged: true, resourceSubscriptions: ['a:one'] }
  const { received } = listen({ a: legacy(undefined) }, wanted, (text) => text.includes('acknowledged'))
  expect((await received).messages.map(({ params }) => params)).toEqual([{ notifications: {}, _meta: tagged }])
})

test('a target that lacks a capability does not accept it', async () => {
  const target = legacy([], { tools: {}, resources: {} })
  const wanted = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['a:one'] }
  const { received } = listen({ a: target }, wanted, (text) => text.includes('acknowledged'))
  expect((await received).messages[0]?.params?.notifications).toEqual({ toolsListChanged: true })
})

test('a stream whose target has lost the session ends, with a result', async () => {
  let streams = 0
  const own = legacy([])
  const forgetful: FakeTarget = (call) => {
    if (call.method !== 'GET') return own(call)
    return streams++ === 0 ? { events: ['retry: 1\n\n'] } : { status: 404 }
  }
  const { received } = listen({ a: forgetful }, { toolsListChanged: true }, () => false)
  expect((await received).messages.at(-1)).toMatchObject({ id: 'l', result: { resultType: 'complete', _meta: tagged } })
})

test('when the backend has other targets, the client hears of the lists that it wants, and the stream ends', async () => {
  const memory = new McpMemory()
  const wanted = { toolsListChanged: true, promptsListChanged: true }
  const replace = (text: string) => {
    if (text.includes('acknowledged')) memory.streams.replaced(MCP_BACKEND, ['a', 'b'])
    return false
  }
  const { received, seen } = listen({ a: legacy([], { tools: {} }) }, wanted, replace, { memory })
  expect((await received).messages.slice(1)).toEqual([
    note('notifications/tools/list_changed', { _meta: tagged }),
    { jsonrpc: '2.0', id: 'l', result: { resultType: 'complete', _meta: tagged } },
  ])
  expect(seen.at(-1)?.method).toBe('DELETE')
})

test('a target cannot make the client listen to more than it wants', async () => {
  const eager: FakeTarget = (call) => {
    if (call.message?.method !== 'subscriptions/listen') return modern(call)
    const notifications = { toolsListChanged: true, resourceSubscriptions: ['m://x', 'm://other'] }
    return { events: [note('notifications/subscriptions/acknowledged', { notifications })] }
  }
  const { received } = listen({ a: eager }, { resourceSubscriptions: ['m://x'] }, () => false)
  expect((await received).messages[0]?.params?.notifications).toEqual({ resourceSubscriptions: ['m://x'] })
})

test('resources that rules hide are not listened to', async () => {
  const hidden = { action: 'Deny', policy: { matchExpressions: ['mcp.resource.name == "m://hidden"'] } } as const
  const { plan } = compileTestMcp({ targets: [{ name: 'a' }] }, [{ authorization: hidden }])
  const ask = (uris: readonly string[]) => listen({ a: modern }, { resourceSubscriptions: uris }, () => false, { plan })
  const some = ask(['m://hidden', 'm://x'])
  expect((await some.received).messages[0]?.params?.notifications).toEqual({ resourceSubscriptions: ['m://x'] })
  const wanted = some.seen.map(({ message }) => message?.params?.notifications)
  expect(wanted.at(-1)).toEqual({ resourceSubscriptions: ['m://x'] })
  const none = ask(['m://hidden'])
  await none.received
  expect(none.seen.map(({ message }) => message?.method)).toEqual(['server/discover'])
})
