import { expect, test } from 'vitest'
import type { Json } from '#base/json.ts'
import { NO_BODIES } from '#exchange/no-bodies.ts'
import { reject } from '#exchange/outcome.ts'
import { codeOf, contextWith, exchangeWith, sourceOf, specFrom } from '../../shared/testing.ts'
import { Conversation } from './conversation.ts'
import { extProc } from './index.ts'
import { modesOf } from './modes.ts'
import { trafficExtProc } from './schema.ts'

const SERVER = { backendRef: { name: 'processor', port: 9000 } }
const SKIP_HEADERS = { requestHeaderMode: 'Skip' }

function compile(written: object) {
  const context = contextWith()
  return { context, run: extProc.compile([sourceOf(specFrom(trafficExtProc, written))], context)! }
}

test.each([
  [{}, ['all: path fields']],
  [SKIP_HEADERS, []],
])('with the options %j the processor reads %j', (processingOptions, readings) => {
  expect(compile({ ...SERVER, processingOptions }).context.readings).toEqual(readings)
})

const NOTHING = {
  requestHeaderMode: 'Skip',
  responseHeaderMode: 'Skip',
  requestBodyMode: 'None',
  responseBodyMode: 'None',
  requestTrailerMode: 'Skip',
  responseTrailerMode: 'Skip',
}

test.each([
  [NOTHING, ['no-effect spec.traffic.field.processingOptions']],
  [{ ...NOTHING, allowModeOverride: true }, ['no-effect spec.traffic.field.processingOptions']],
  [{ ...NOTHING, responseTrailerMode: 'Send' }, []],
  [{ ...NOTHING, requestBodyMode: 'Buffered' }, []],
  [SKIP_HEADERS, []],
])('with the options %j the reports are %j', (processingOptions, reports) => {
  expect(compile({ ...SERVER, processingOptions }).context.reports).toEqual(reports)
})

test('without a connection to the processor a request is refused', async () => {
  const { run } = compile(SERVER)
  const exchange = exchangeWith()
  const outcome = await run.request!(exchange)
  expect(outcome).toMatchObject({ code: 'ext-proc-failed', detail: 'processor default/processor: no-endpoint' })
  expect(exchange.callouts).toMatchObject([
    { policy: 'extProc', backend: 'default/processor', verdict: 'failed', detail: 'no-endpoint' },
  ])
})

test('metadata of the processor count as memory with what they take', () => {
  const exchange = exchangeWith()
  const keep = (bytes: number) =>
    bytes > 100_000 ? reject('body-memory-exhausted', { detail: 'none left' }) : undefined
  exchange.bodies = { ...NO_BODIES, request: { ...NO_BODIES.request, keep } }
  const conversation = new Conversation(
    {
      backend: '',
      modes: modesOf({ backendRef: { group: '', kind: 'Service', name: 'processor' } }),
      allowModeOverride: false,
    },
    exchange,
  )
  const answered = (list: Json) => conversation.headersAnswered('request', { dynamicMetadata: { list } })
  expect(answered(['x'.repeat(9000)])).toBeUndefined()
  expect(answered(Array.from({ length: 3000 }, () => ({})))).toBe('none left')
  expect(exchange.extproc).toEqual({ list: ['x'.repeat(9000)] })
})

test('a request that nothing of is processed decides without a promise', () => {
  const { run } = compile({ ...SERVER, processingOptions: SKIP_HEADERS })
  const exchange = exchangeWith({ status: 200 })
  expect(codeOf(run.request!(exchange))).toBe('proceed')
  expect(exchange.callouts).toBeUndefined()
})

test('a response whose request did not reach the policy is not processed', () => {
  expect(compile(SERVER).run.processResponse!(exchangeWith({ status: 200 }))).toBeUndefined()
})

test('a condition that does not compile refuses', () => {
  const { run, context } = compile({ conditional: [{ condition: 'request.', policy: SERVER }] })
  expect(codeOf(run.request!(exchangeWith()))).toBe('ext-proc-failed')
  expect(context.problems.length).toBeGreaterThan(0)
})

test('a condition that reads the body needs it', () => {
  const conditional = [{ condition: 'size(request.body) > 3', policy: SERVER }]
  expect(compile({ conditional }).run.readsRequestBody).toBe(true)
})

test.each([
  [['request.headers["x"] == "1"'], ['no-fallback spec.traffic.field.conditional']],
  [['request.headers["x"] == "1"', 'request.method == "POST"'], []],
  [['request.headers["x"] == "1"', undefined], []],
])('requests that pass if the conditions %j fail', (conditions, reports) => {
  const conditional = conditions.map((condition) => ({ condition, policy: SERVER }))
  const { context } = compile({ conditional })
  expect(context.reports).toEqual(reports)
})
