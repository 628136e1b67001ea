import { expect, test } from 'vitest'
import { largeBody } from '#exchange/known-body.ts'
import { RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import { Head } from '#net/http/head.ts'
import { contextWith, type ExchangeInputs, exchangeWith, sourceOf } from '#policies/shared/testing.ts'
import type { BackendSettings, ProtocolAttempt } from '../backend-protocol.ts'
import { a2a } from './a2a-protocol.ts'

const AGENT = { label: '10.0.0.5:9000', section: undefined }
const CARD = '/.well-known/agent-card.json'
const CALL = '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}'
const JSON_TYPE = { 'content-type': 'application/json' }

/** The protocol for a backend, with what is reported about it. */
function compiled(port = 9000, isSecured = false) {
  const context = contextWith()
  const of: BackendSettings['of'] = () => (isSecured ? [sourceOf({})] : []) as never
  const backend = { ...sourceOf({ host: 'agent.test', port }), namespace: 'default', name: 'agent' }
  return { run: a2a.compile(backend as never, { of, everyOf: of }, context), reports: context.reports }
}

test.each([
  [443, false, ['inconsistent spec.traffic.field.port']],
  [443, true, []],
  [8080, false, []],
])('port %i, TLS %s', (port, isSecured, reports) => {
  expect(compiled(port, isSecured).reports).toEqual(reports)
})

/** An attempt at the agent, after the protocol has prepared it. */
function prepare(inputs: ExchangeInputs) {
  const attempt: ProtocolAttempt = {
    maxBufferBytes: 1_000_000,
    askRules: () => undefined,
    llmReads: () => {
      throw new Error('this is no LLM call')
    },
    selectFilter: undefined,
  }
  const exchange = exchangeWith(inputs)
  expect(compiled().run.prepare?.(exchange, AGENT, attempt)).toBe(undefined)
  return { exchange, attempt }
}

const EXTENDED = '{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}'

test.each<[what: string, inputs: ExchangeInputs, method: string | undefined, encoding: string, readsResponse: boolean]>(
  [
    ['a card', { target: CARD }, 'agent-card', 'identity', true],
    ['an extended card', { target: '/v1/card' }, 'GetExtendedAgentCard', 'identity', true],
    ['an extended card by JSON-RPC', { method: 'POST', body: EXTENDED }, 'GetExtendedAgentCard', 'identity', true],
    ['a call', { method: 'POST', headers: JSON_TYPE, body: CALL }, 'SendMessage', 'gzip', true],
    ['a call that was not read', { method: 'POST', headers: JSON_TYPE }, 'unknown', 'gzip', true],
    ['a call by path', { target: '/v1/tasks/1' }, 'GetTask', 'gzip', true],
    ['another request', { target: '/docs' }, undefined, 'gzip', false],
  ],
)('%s: its method, what the agent may compress, and whether the response is read', (...row) => {
  const [, inputs, method, encoding, readsResponse] = row
  const { exchange, attempt } = prepare({ ...inputs, headers: { ...inputs.headers, 'accept-encoding': 'gzip' } })
  expect([exchange.a2a?.method, exchange.request.get('accept-encoding'), attempt.selectFilter !== undefined]).toEqual([
    method,
    encoding,
    readsResponse,
  ])
})

test.each([
  ['GET', 200, true],
  ['HEAD', 200, true],
  ['GET', 304, true],
  ['GET', 302, false],
  ['GET', 204, false],
  ['GET', 205, false],
  ['GET', 400, false],
  ['GET', 404, false],
])(
  'the response to %s with status %i is that of the agent, but for its length: %s',
  (method, status, changesLength) => {
    const { exchange, attempt } = prepare({ method, target: CARD })
    exchange.response = Head.response(status)
    const filter = attempt.selectFilter!(exchange, {} as never, RESPONSE_DECODING)
    expect(filter?.changesLength ?? false).toBe(changesLength)
  },
)

test('a card by gRPC must not be compressed, because the gateway reads it', () => {
  const headers = { 'content-type': 'application/grpc', 'grpc-accept-encoding': 'gzip', 'accept-encoding': 'gzip' }
  const { exchange } = prepare({ method: 'POST', target: '/a2a.v1.A2AService/GetAgentCard', headers })
  expect([exchange.request.get('grpc-accept-encoding'), exchange.request.get('accept-encoding')]).toEqual([
    undefined,
    'identity',
  ])
})

test('the method of a body that was not read to its end is read from its beginning', () => {
  const exchange = exchangeWith({ method: 'POST', headers: JSON_TYPE })
  exchange.requestBody = largeBody(Buffer.from(CALL.slice(0, -5)))
  compiled().run.prepare?.(exchange, AGENT, {} as ProtocolAttempt)
  expect(exchange.a2a?.method).toBe('SendMessage')
})

test.each([
  ['PUT', '/tasks/1:cancel', 'POST'],
  ['DELETE', '/a2a.v1.A2AService/GetTask', 'POST'],
  ['OPTIONS', '/tasks/1:cancel', undefined],
  ['PUT', '/docs', undefined],
])('%s %s may have %s', (method, target, allow) => {
  const outcome = compiled().run.prepare?.(exchangeWith({ method, target }), AGENT, {} as ProtocolAttempt)
  const refusal = { kind: 'refusal', code: 'method-not-allowed', headers: [['allow', allow]] }
  if (allow === undefined) expect(outcome).toBe(undefined)
  else expect(outcome).toMatchObject(refusal)
})

test('a message of JSON-RPC may be posted to a path of another method', () => {
  const exchange = exchangeWith({ method: 'POST', target: '/tasks', headers: JSON_TYPE, body: CALL })
  expect(compiled().run.bodyNeed?.(exchange)).toBe('start')
  expect(compiled().run.prepare?.(exchange, AGENT, {} as ProtocolAttempt)).toBe(undefined)
  expect(exchange.a2a?.method).toBe('SendMessage')
})

test('agents may take any time', () => {
  expect([a2a.name, a2a.responseTimeoutMs, a2a.rewritesHost]).toEqual(['a2a', 0, true])
})

test.each<[inputs: ExchangeInputs, lines: readonly string[]]>([
  [
    { target: CARD, headers: { host: 'gw.example' } },
    ['A2A agent card; the base URL of the card becomes http://gw.example'],
  ],
  [{ method: 'POST', headers: JSON_TYPE, body: CALL }, ['A2A call, method SendMessage']],
  [{ method: 'POST', headers: JSON_TYPE }, ['A2A call, method unknown']],
  [{ target: '/v1/tasks/1' }, ['A2A call, method GetTask']],
  [{ target: '/docs' }, []],
])('explain of %j', (inputs, lines) => {
  const exchange = exchangeWith(inputs)
  expect(compiled().run.explain?.(exchange, AGENT, false)?.lines).toEqual(lines)
  expect(compiled().run.explain?.(exchange, undefined, false)).toBe(undefined)
})

test('a refused call has its method in the log', () => {
  const exchange = exchangeWith({ method: 'POST', body: CALL })
  compiled().run.noteRefused?.(exchange, undefined)
  expect(exchange.a2a?.method).toBe('SendMessage')
})
