import { expect, test } from 'vitest'
import { Exchange } from '#exchange/exchange.ts'
import { Head } from '#net/http/head.ts'
import { initializeMessage } from '#test/support/fake-targets.ts'
import { compileTestMcp, mcpPlan } from '#test/support/mcp-plan.ts'
import { explainMcp } from './explain-mcp.ts'

const plan = compileTestMcp({ targets: [{ name: 'a', path: '/x' }, { name: 'b' }] }, [
  { authorization: { action: 'Deny', policy: { matchExpressions: ['mcp.tool.name == "secret"'] } } },
]).plan

function explain(message: unknown, at = plan) {
  const peer = {
    remoteAddress: '',
    remotePort: 0,
    rawAddress: '',
    rawPort: 0,
    localAddress: '',
    localPort: 0,
    secure: false,
    serverName: undefined,
    certificate: undefined,
  }
  const exchange = new Exchange(Head.request('POST', '/mcp'), peer)
  const text = typeof message === 'string' ? message : JSON.stringify(message)
  return explainMcp(at, exchange, new TextEncoder().encode(text))
}

const request = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) })

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
  [request('tools/call', { name: 'a_secret' }), 'refused with status 400: by backend.mcp.authorization'],
  [request('tools/call', { name: 'c_x' }), 'refused with status 400: the name belongs to no target'],
  [request('tools/call'), 'refused with status 200: the parameters do not identify an item'],
  [request('x'), 'refused: the method is not supported'],
  [request('ping'), 'answered by the gateway'],
  ['[]', 'refused: the body is batch'],
  ['', 'refused: the body is not-json'],
  [{ jsonrpc: '2.0', id: 1, result: {} }, 'sent to the target whose request it answers, found by the id'],
])('%o: %s', (message, note) => {
  expect(explain(message)).toMatchObject({ requests: [], note })
})

test('without sessions there are fewer methods', () => {
  const stateless = mcpPlan(['a'], { sessionRouting: 'Stateless' })
  expect(explain(request('logging/setLevel'), stateless).note).toBe('refused: the method is not supported')
  expect(explain({ jsonrpc: '2.0', method: 'notifications/initialized' }, stateless).requests).toEqual([])
  expect(explain({ jsonrpc: '2.0', method: 'notifications/initialized' }).requests).toHaveLength(2)
})
