import { afterAll, beforeAll, expect, test } from 'vitest'
import { startMcpGateway } from '#test/interop/mcp/mcp-gateway.ts'
import { eventually } from '#test/support/eventually.ts'
import type { TestMessage } from '#test/support/fake-targets.ts'
import { type Posted, post } from '#test/support/mcp-post.ts'
import { answerModern, type RawCall, type RawTarget, startRawTarget } from '#test/support/raw-mcp-target.ts'

/** Clients and targets of different eras at a running gateway with two workers; the targets break the protocol, too. */

const stops = new AsyncDisposableStack()
let modern: RawTarget
let base: string

beforeAll(async () => {
  modern = await startRawTarget(answerAsModern)
  stops.defer(modern.close)
  const { port } = await startMcpGateway(stops, { modern: { modern: modern.port } })
  base = `http://127.0.0.1:${port}`
})

afterAll(() => stops.disposeAsync())

function answerAsModern(call: RawCall): void {
  const { message, event, json, end } = call
  if (answerModern(call)) return
  const { id, params = {} } = message
  if (message.method === 'subscriptions/listen') return
  if (params.name === 'wait') {
    return event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'begun' } })
  }
  if (params.name === 'refuse') {
    return json({ jsonrpc: '2.0', id, error: { code: -32602, message: 'no such thing', data: { at: 1 } } }, 400)
  }
  end(500)
}

const call = (id: number, name: string) => ({ id, method: 'tools/call', params: { name, arguments: {} } })

/** A client of the legacy era, with a session. */
async function begin(): Promise<(message: TestMessage) => Promise<Posted>> {
  const capabilities = { elicitation: {}, sampling: {} }
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } }
  const accept = 'application/json, text/event-stream'
  const response = await fetch(`${base}/modern`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  })
  await response.text()
  const headers = { 'mcp-session-id': response.headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-11-25' }
  return (message) => post(`${base}/modern`, message, { headers })
}

test('a cancellation in a session closes the stream of a target without sessions', async () => {
  const send = await begin()
  const pending = send(call(41, 'wait'))
  const { closed } = await eventually('the target has the call', () =>
    modern.calls.find(({ message }) => message.id === 41),
  )
  await send({ method: 'notifications/cancelled', params: { requestId: 41 } })
  await closed
  expect((await pending).messages).toMatchObject([{ method: 'notifications/message' }])
})

test('an error of a target with an error status is an error of the protocol for a client with a session', async () => {
  const answer = await (await begin())(call(42, 'refuse'))
  expect(answer.status).toBe(200)
  expect(answer.messages).toEqual([
    { jsonrpc: '2.0', id: 42, error: { code: -32602, message: 'no such thing', data: { at: 1 } } },
  ])
})
