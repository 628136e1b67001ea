import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import type { TestMessage } from '#test/support/fake-targets.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { post } from '#test/support/mcp-post.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { answerSession, type RawCall, type RawTarget, startRawTarget } from '#test/support/raw-mcp-target.ts'

/** Calls in flight at a running gateway with two workers whose client deletes their session. The target never finishes them. */

const stops = new AsyncDisposableStack()
let target: RawTarget
let url: string
let waiting: RawCall | undefined

/** What each tool does before it is silent. */
const BEGINNINGS: Readonly<Record<string, (call: RawCall) => void>> = {
  silent: () => {},
  stream: ({ event }) =>
    event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: '1' } }),
  resumable: ({ event }) => event({ jsonrpc: '2.0', method: 'notifications/message', params: {} }, 'e1'),
}

function answer(call: RawCall): void {
  if (call.method === 'GET') return call.end(405)
  if (answerSession(call)) return
  waiting = call
  if (call.message.method === 'tools/list') return
  BEGINNINGS[String(call.message.params?.name)]!(call)
}

beforeAll(async () => {
  target = await startRawTarget(answer)
  stops.defer(target.close)
  const port = await freePort()
  url = `http://127.0.0.1:${port}/mcp`
  const folder = await createObjectsFolder({
    'gateway.yaml': gatewayYaml(port),
    'tools.yaml': joinYaml(
      `apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: tools }
spec: { mcp: { targets: [{ name: raw, static: { host: 127.0.0.1, port: ${target.port} } }] } }
`,
      routeYaml('tools', '/', 'tools'),
    ),
  })
  stops.defer(folder.remove)
  stops.use(await startGateway({ files: [folder.path], workers: 2 }))
})

afterAll(() => stops.disposeAsync())

async function begin(): Promise<Record<string, string>> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  const response = await fetch(url, { method: 'POST', headers, body })
  await response.text()
  return { 'mcp-session-id': response.headers.get('mcp-session-id')! }
}

test.each<[name: string, status: number, error: TestMessage['error']]>([
  ['silent', 404, undefined],
  ['stream', 200, { code: -32603, message: 'the stream from a target failed' }],
  ['resumable', 200, { code: -32603, message: 'the stream from a target failed' }],
])('a call of the tool %s ends with its session, and the target is told first', async (name, status, error) => {
  waiting = undefined
  const headers = await begin()
  const from = target.calls.length
  const called = post(url, { id: 'call-7', method: 'tools/call', params: { name } }, { headers })
  const call = await eventually('the call', () => waiting)

  expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(204)
  const ended = await called
  expect([ended.status, ended.messages.at(-1)?.error]).toEqual([status, error])
  await call.closed
  expect(target.seen.slice(from)).toEqual(['tools/call', 'notifications/cancelled', 'DELETE'])
  expect(target.calls[from + 1]?.message.params).toEqual({ requestId: 'call-7', reason: 'the session has ended' })
})

test.each(['DELETE', 'cancellation'])('a list ends with a %s, and the target is told', async (how) => {
  waiting = undefined
  const headers = await begin()
  const from = target.calls.length
  const listed = post(url, { id: 8, method: 'tools/list' }, { headers })
  const call = await eventually('the request', () => waiting)

  if (how === 'DELETE') expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(204)
  else await post(url, { method: 'notifications/cancelled', params: { requestId: 8 } }, { headers })
  const { status, messages } = await listed
  expect([status, messages]).toEqual(how === 'DELETE' ? [404, []] : [200, []])
  await call.closed
  const told = ['tools/list', 'notifications/cancelled']
  expect(target.seen.slice(from)).toEqual(how === 'DELETE' ? [...told, 'DELETE'] : told)
  expect(target.calls[from + 1]?.message.params?.requestId).toBe(8)
})
