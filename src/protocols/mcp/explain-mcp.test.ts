import { expect, test } from 'vitest'
import { Exchange } from '#exchange/exchange.ts'
import { Head } from '#net/http/head.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { initializeMessage } from '#test/support/fake-targets.ts'
import { compileTestMcp, mcpPlan } from '#test/support/mcp-plan.ts'
import { explainMcp } from './explain-mcp.ts'

const plan = compileTestMcp({ targets: [{ name: 'a', path: '/x' }, { name: 'b' }] }, [
  { authorization: { action: 'Deny', policy: { matchExpressions: ['mcp.tool.name == "secret"'] } } },
]).plan

/** A POST as clients send it, unless `head` says otherwise. */
function explain(message: unknown, at = plan, head = postHead()) {
  const exchange = new Exchange(head, exchangeWith().peer)
  const text = typeof message === 'string' ? message : JSON.stringify(message)
  return explainMcp(at, exchange, new TextEncoder().encode(text))
}

function postHead(): Head {
  return headOf('POST', { accept: 'application/json, text/event-stream', 'content-type': 'application/json' })
}

function headOf(method: string, fields: Readonly<Record<string, string>> = {}, target = '/mcp'): Head {
  const head = Head.request(method, target)
  for (const [name, value] of Object.entries(fields)) head.append(name, value)
  return head
}

const request = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) })

test('a call of a pinned tool', () => {
  const pinned = mcpPlan(['a', 'b'], { toolPinning: {} })
  const { note } = explain(request('tools/call', { name: 'a_x' }), pinned)
  expect(note).toBe('target a owns the item; refused if the tool has changed')
})

test('a call goes to one target, under its own name', () => {
  expect(explain(request('tools/call', { name: 'a_x', arguments: {} }))).toEqual({
    method: 'tools/call',
    requests: [
      { target: 'a', method: 'POST', path: '/x', message: request('tools/call', { name: 'x', arguments: {} }) },
    ],
    note: 'target a owns the item',
  })
})

test('a list goes to all', () => {
  const { requests } = explain(request('tools/list'))
  expect(requests.map(({ target, path }) => `${target} ${path}`)).toEqual(['a /x', 'b /mcp'])
})

test('initialize is sent with a revision that the gateway speaks', () => {
  const { requests } = explain(initializeMessage({ protocolVersion: '2026-07-28' }))
  expect(requests).toMatchObject([
    { message: { params: { protocolVersion: '2025-11-25' } } },
    { message: { params: { protocolVersion: '2025-11-25' } } },
  ])
})

test.each([
  [request('x'), 'refused: the method is not supported'],
  [request('ping'), 'answered by the gateway'],
  [{ jsonrpc: '2.0', id: 1, result: {} }, 'sent to the target whose request it answers, found by the id'],
])('%o: %s', (message, note) => {
  expect(explain(message)).toMatchObject({ requests: [], note })
})

test('an unknown revision is refused with the id of the request', () => {
  const head = postHead()
  head.append('mcp-protocol-version', '1999-01-01')
  expect(JSON.parse(explain(request('ping'), plan, head).refusal?.body ?? '')).toMatchObject({ id: 1 })
})

test.each([
  [request('tools/call', { name: 'a_secret' }), 200, expect.stringMatching(/^Deny rule .*matchExpressions\[0\]/)],
  [request('tools/call'), 200, 'the parameters do not identify an item'],
  [request('tools/call', { name: 'c_x' }), 200, 'the name belongs to no target'],
  ['[]', 400, 'the body is a batch of messages'],
  ['', 400, 'the body is not JSON'],
])('%o is refused with status %i: %s', (message, status, detail) => {
  expect(explain(message)).toMatchObject({ requests: [], note: 'refused', refusal: { status, detail } })
})

test.each([
  ['GET', 'opens the stream of messages of the session'],
  ['DELETE', 'ends the session, also at every target'],
])('%s has no message: %s', (method, note) => {
  expect(explain('', plan, headOf(method))).toEqual({ method: undefined, requests: [], note })
})

test('the older transport opens a stream with GET, and has a session in any case', () => {
  const stateless = mcpPlan(['a'], { sessionRouting: 'Stateless' })
  expect(explain('', stateless, headOf('GET', { accept: 'text/event-stream' }, '/x/sse')).note).toBe(
    'opens a stream of the older HTTP+SSE transport, for all messages to the client',
  )
  const head = headOf('POST', { 'content-type': 'application/json' }, '/x/sse?sessionId=1')
  expect(explain(request('logging/setLevel'), stateless, head).note).toBe(
    'sent to every target with the capability logging; responses go to the stream of the client',
  )
})

test.each([
  ['GET', { accept: 'text/html' }, 406, 'mcp-not-acceptable', 'mcp: not acceptable'],
  ['PUT', {}, 405, 'method-not-allowed', 'method not allowed'],
  ['POST', { 'content-type': 'text/plain' }, 415, 'mcp-content-type', 'mcp: unsupported media type'],
  ['POST', { 'content-type': 'application/json' }, 400, 'mcp-message-invalid', 'mcp: invalid message'],
])('%s %o is refused as at run time: %i %s', (method, fields, status, code, body) => {
  const { requests, refusal } = explain('{', plan, headOf(method, fields))
  expect({ requests, refusal }).toMatchObject({ requests: [], refusal: { status, code, body } })
})

test('a page that names another host is refused at a loopback listener', () => {
  const head = postHead()
  head.authority = 'tools.example'
  const exchange = new Exchange(head, exchangeWith().peer)
  expect(explainMcp(plan, exchange, undefined, true).refusal?.code).toBe('mcp-origin-refused')
})

test('without sessions there are fewer methods', () => {
  const stateless = mcpPlan(['a'], { sessionRouting: 'Stateless' })
  expect(explain(request('logging/setLevel'), stateless).note).toBe('refused: the method is not supported')
  expect(explain({ jsonrpc: '2.0', method: 'notifications/initialized' }, stateless).requests).toEqual([])
  expect(explain({ jsonrpc: '2.0', method: 'notifications/initialized' }).requests).toHaveLength(2)
  // The name of a property of every object is a name like any other.
  expect(explain(request('constructor')).note).toBe('refused: the method is not supported')
  expect(explain({ jsonrpc: '2.0', method: 'tools/list' }).refusal?.code).toBe('mcp-message-invalid')
})
