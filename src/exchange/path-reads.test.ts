import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { compileExpression } from './compile-expression.ts'
import { Exchange } from './exchange.ts'
import type { ExpressionEnvironment } from './expression.ts'
import { decides, readsPath } from './path-reads.ts'
import { variablesAt } from './variables/environments.ts'

function exchangeAt(target: string): Exchange {
  const head = Head.request('GET', target)
  head.set('host', 'example.com')
  const exchange = new Exchange(head, {
    remoteAddress: '192.0.2.7',
    remotePort: 1,
    rawAddress: '192.0.2.7',
    rawPort: 1,
    localAddress: '127.0.0.1',
    localPort: 2,
    secure: false,
    serverName: undefined,
    certificate: undefined,
  })
  return exchange
}

test.each<[text: string, reads: boolean]>([
  ['request.path == "/"', true],
  ['request.uri.query("a") == []', true],
  ['request.pathAndQuery.contains("x")', true],
  ['has(request.path)', true],
  ['request["path"] == "/"', true],
  ['request.?path.orValue("") == ""', true],
  ['[request].exists(r, r.path == "/")', true],
  ['toJson(variables()) == ""', true],
  ['a2a.method == "GetTask"', true],
  ['request.host == "/path"', false],
  ['request.headers["path"] == ""', false],
  ['source.address == "request.path"', false],
])('%s reads the path: %s', (text, expected) => {
  expect(readsPath(compileExpression(text, 'request', () => {}))).toBe(expected)
})

test.each<[environment: ExpressionEnvironment, decides: boolean]>([
  ['request', true],
  ['response', true],
  ['mcp', true],
  ['llm', true],
  ['request-cost', true],
  ['token-cost', true],
  ['health', false],
  ['log', false],
  ['metric', false],
  ['trace', false],
])('expressions of %s decide about the request: %s', (environment, expected) => {
  expect(decides(environment)).toBe(expected)
})

test('every variable that contains the path is listed', () => {
  for (const { path } of variablesAt('log').filter((variable) => !('unavailable' in variable))) {
    const expression = compileExpression(path, 'log', () => {})
    const shown = JSON.stringify(expression.json(exchangeAt('/shown')) ?? '')
    if (shown.includes('/shown')) expect(readsPath(expression), path).toBe(true)
  }
})

test.each([
  ['request.path', '/@a/b%2Fc'],
  ['request.pathAndQuery', '/@a/b%2Fc?d=%61//'],
  ['request.uri', 'http://example.com/@a/b%2Fc?d=%61//'],
])('%s is the matched form', (text, value) => {
  const expression = compileExpression(text, 'log', () => {})
  expect(expression.json(exchangeAt('//%40a///%62%2fc?d=%61//'))).toBe(value)
})
