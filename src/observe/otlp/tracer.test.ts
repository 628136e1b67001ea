import { expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { RequestSpan } from '#exchange/request-span.ts'
import type { TracingSettings } from '#exchange/tracing-settings.ts'
import { Head } from '#net/http/head.ts'
import { decodeOfficial } from '#test/support/otlp-definitions.ts'
import { Ended } from '../ended.ts'
import { type ObservedInputs, observed, settingsOf } from '../testing.ts'
import type { Exporters } from './exporters.ts'
import { Tracer } from './tracer.ts'

interface Span {
  readonly name: string
  readonly startTimeUnixNano: string
  readonly status?: { readonly code?: string; readonly message?: string }
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
}

const TARGET = { signal: 'traces', backend: 'b', protocol: 'GRPC', path: '', resource: () => [], key: 'k' } as const
const NO_SECRETS = { version: 0, hide: (text: string) => text, hideValues: (text: string) => text }

function tracer(add: Readonly<Record<string, string>> = {}) {
  const spans: Span[] = []
  const exporters = {
    add: (_: unknown, item: Uint8Array) =>
      void spans.push(decodeOfficial('opentelemetry.proto.trace.v1.Span', item) as unknown as Span),
  } as unknown as Exporters
  const logged = settingsOf({ add })
  const settings: TracingSettings = {
    target: TARGET,
    remove: new Set(),
    add: logged.accessLog!.add,
    randomSampling: undefined,
    clientSampling: undefined,
  }
  const span = new RequestSpan(settings, { ...clock, random: Math.random }, undefined, '')
  const all = new Tracer(exporters, NO_SECRETS)
  const request = (inputs: ObservedInputs, trailers?: Head) => {
    const { noted } = inputs
    const ends = observed({ ...inputs, noted: { ...noted, span }, settings: { ...logged, tracing: settings } })
    ends.exchange.trailers = trailers
    all.requestEnded(new Ended(ends, clock.now(), 1, undefined), span)
    return spans.at(-1)!
  }
  return { all, span, spans, request }
}

/** Its status, and the attribute `error.type`. */
function errorOf({ status, attributes }: Span): object | undefined {
  const value = attributes.find(({ key }) => key === 'error.type')?.value as
    | { readonly stringValue: string }
    | undefined
  return value && { code: status?.code, type: value.stringValue }
}

test.each([
  [0, undefined],
  [1, undefined],
  [2, 'UNKNOWN'],
  [3, undefined],
  [4, 'DEADLINE_EXCEEDED'],
  [5, undefined],
  [8, undefined],
  [12, 'UNIMPLEMENTED'],
  [13, 'INTERNAL'],
  [14, 'UNAVAILABLE'],
  [15, 'DATA_LOSS'],
  [16, undefined],
])('gRPC status %d is a fault of the server: %s', (status, type) => {
  const trailers = new Head()
  trailers.set('grpc-status', `${status}`)
  const headers = { 'content-type': 'application/grpc' }
  const { status: shown, attributes } = tracer().request(
    { line: 'POST /a.B/Do', headers, noted: { version: '2' } },
    trailers,
  )
  expect(shown?.code).toBe(type === undefined ? undefined : 'STATUS_CODE_ERROR')
  expect(attributes.find(({ key }) => key === 'error.type')?.value).toEqual(type && { stringValue: type })
})

test.each([
  ['"mine"', 'mine'],
  ['""', 'GET'],
  ['1', 'GET'],
])('the attribute span.name, with value %s, names the span instead', (expression, name) => {
  const span = tracer({ 'span.name': expression, other: '2' }).request({})
  expect(span.name).toBe(name)
  expect(span.attributes.map(({ key }) => key)).not.toContain('span.name')
  expect(span.attributes).toContainEqual({ key: 'other', value: { intValue: '2' } })
})

test.each<[llm: Partial<LlmFacts> | undefined, name: string]>([
  [{ operation: 'chat', requestModel: 'm-1' }, 'chat m-1'],
  [{ operation: 'realtime', requestModel: '' }, 'realtime'],
  [{ operation: 'chat', requestModel: 'm'.repeat(2000) }, `chat ${'m'.repeat(1018)}\u2026`],
  [{ operation: undefined, requestModel: 'm-1' }, 'POST'],
  [undefined, 'POST'],
])('an attempt with the facts %j is named %s', (llm, name) => {
  const { all, span, spans } = tracer()
  const { exchange } = observed({})
  exchange.llm = llm && { ...NO_LLM, ...llm }
  const request = Head.request('POST', '/v1/messages/count_tokens')
  span.beginAttempt(request, 0)
  span.attempt!.request = request
  all.attemptEnded(span.attempt!, exchange)
  expect(spans[0]!.name).toBe(name)
})

test.each<[facts: Partial<LlmFacts>, failure: string | undefined, type: string | undefined]>([
  [{ operation: 'chat', errorType: 'overloaded_error' }, 'incomplete', 'overloaded_error'],
  [{ operation: 'chat', errorType: 'reset' }, 'incomplete', 'reset'],
  // A fault of the client does not fail the attempt.
  [{ operation: 'chat', errorType: 'context_length_exceeded' }, undefined, 'context_length_exceeded'],
  [{ operation: 'chat' }, 'incomplete', 'incomplete'],
  [{ operation: 'chat' }, undefined, undefined],
  [{ operation: 'realtime', errorType: 'invalid_request_error' }, undefined, undefined],
  [{ operation: 'realtime', errorType: 'reset' }, 'incomplete', 'reset'],
])('an attempt with the facts %j that failed as %s has the error %s', (llm, failure, type) => {
  const { all, span, spans } = tracer()
  const { exchange } = observed({})
  exchange.llm = { ...NO_LLM, ...llm }
  span.beginAttempt(Head.request('POST', '/v1/messages'), 0)
  Object.assign(span.attempt!, { status: 200, failure })
  all.attemptEnded(span.attempt!, exchange)
  expect(errorOf(spans[0]!)).toEqual(type && { code: 'STATUS_CODE_ERROR', type })
})

test.each<[llm: Partial<LlmFacts>, type: string]>([
  [{ errorType: 'overloaded_error' }, 'overloaded_error'],
  [{}, 'UpstreamFailure'],
])('the span of a request whose stream failed, with the facts %j, has the error %s', (llm, type) => {
  const shown = tracer().request({ llm, status: 200, noted: { reason: 'UpstreamFailure' } })
  expect(errorOf(shown)).toEqual({ code: 'STATUS_CODE_ERROR', type })
})

test('a call that was never sent begins when it ends', () => {
  const { all, span, spans } = tracer()
  const beforeMs = clock.now()
  all.callEnded(
    { purpose: 'guard', backend: 'b', status: undefined, failure: 'no-endpoint', durationMs: 0 } as never,
    span.begin('guard'),
  )
  const startMs = Number(BigInt(spans[0]!.startTimeUnixNano) / 1_000_000n)
  expect(startMs).toBeGreaterThanOrEqual(beforeMs - 100)
  expect(startMs).toBeLessThanOrEqual(clock.now() + 1000)
  expect(spans[0]).toMatchObject({ name: 'call', status: { code: 'STATUS_CODE_ERROR' } })
})
