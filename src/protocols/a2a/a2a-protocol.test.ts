import { expect, test } from 'vitest'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { TextSink } from '#net/testing/recording-handler.ts'
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

test.each<[what: string, inputs: ExchangeInputs, method: string | undefined, encoding: string, readsResponse: boolean]>(
  [
    ['a card', { target: CARD }, 'agent-card', 'identity', true],
    ['a call', { method: 'POST', headers: JSON_TYPE, body: CALL }, 'message/send', 'gzip', false],
    ['a call that was not read', { method: 'POST', headers: JSON_TYPE }, 'unknown', 'gzip', false],
    ['another request', { target: '/v1/tasks/1' }, undefined, 'gzip', false],
  ],
)('%s: its method, what the agent may compress, and whether the response is read', (...row) => {
  const [, inputs, method, encoding, readsResponse] = row
  const { exchange, attempt } = prepare({ ...inputs, headers: { ...inputs.headers, 'accept-encoding': 'gzip' } })
  expect([exchange.a2aMethod, exchange.request.get('accept-encoding'), attempt.selectFilter !== undefined]).toEqual([
    method,
    encoding,
    readsResponse,
  ])
})

test.each([
  [200, 'https://gw.example'],
  [404, undefined],
])('the card of a response with status %i', (status, url) => {
  const { exchange, attempt } = prepare({
    target: CARD,
    scheme: 'https',
    headers: { host: 'gw.example' },
    status,
    responseHeaders: JSON_TYPE,
  })
  const claim = new BodyClaim(new BodyMemory(Number.POSITIVE_INFINITY))
  const filter = attempt.selectFilter?.(exchange, claim, () => undefined)
  expect(filter?.changesLength).toBe(url === undefined ? undefined : true)
  if (filter === undefined) return
  const sink = new TextSink()
  const into = filter.into(sink)
  const card = Buffer.from('{"url":"http://10.0.0.5:9000/"}')
  into.bytes(card, 0, card.length)
  into.end()
  expect([sink.text, sink.ended]).toEqual([`{"url":"${url}"}`, true])
})

test('a call is buffered unless it is large, and agents may take any time', () => {
  expect(compiled().run.bodyNeed?.(exchangeWith({ method: 'POST' }))).toBe('whole-if-small')
  expect([a2a.name, a2a.responseTimeoutMs, a2a.rewritesHost]).toEqual(['a2a', 0, true])
})

test.each<[inputs: ExchangeInputs, lines: readonly string[]]>([
  [{ target: CARD, headers: { host: 'gw.example' } }, ['A2A agent card; its base URL becomes http://gw.example']],
  [{ method: 'POST', headers: JSON_TYPE, body: CALL }, ['A2A call, method message/send']],
  [{ method: 'POST', headers: JSON_TYPE }, ['A2A call, method unknown']],
  [{ target: '/v1/tasks/1' }, []],
])('explain of %j', (inputs, lines) => {
  const exchange = exchangeWith(inputs)
  expect(compiled().run.explain?.(exchange, AGENT, false)?.lines).toEqual(lines)
  expect(compiled().run.explain?.(exchange, undefined, false)).toBe(undefined)
})
