import { expect, test } from 'vitest'
import { encodeOfficial } from '#test/support/otlp-definitions.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { readAccepted, readGrpcError, readHttpError } from './export-answers.ts'

const NOTHING = new Uint8Array(0)
const PACKAGE = 'opentelemetry.proto.collector'

test.each([
  ['logs.v1.ExportLogsServiceResponse', 'rejectedLogRecords'],
  ['trace.v1.ExportTraceServiceResponse', 'rejectedSpans'],
])('a partial success: %s', (name, member) => {
  const body = encodeOfficial(`${PACKAGE}.${name}`, { partialSuccess: { [member]: '3', errorMessage: 'too old' } })
  expect(readAccepted(body)).toEqual({ kind: 'accepted', rejectedItems: 3, detail: 'too old' })
})

test.each([
  ['an empty response', NOTHING],
  ['a response that is not readable', new Uint8Array([0xff, 0xff])],
])('%s accepts all', (_, body) => {
  expect(readAccepted(body)).toEqual({ kind: 'accepted', rejectedItems: 0, detail: undefined })
})

const retryInfo = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay })
const other = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'x' }
const details = (...list: object[]) =>
  Buffer.from(encodeOfficial('google.rpc.Status', { code: 8, details: list as never[] })).toString('base64')

test.each([
  ['UNAVAILABLE', undefined, 'failed', undefined],
  ['UNAVAILABLE', details(other, retryInfo('1.5s')), 'failed', 1500],
  ['UNAVAILABLE', 'AAAA', 'failed', undefined],
  ['CANCELLED', undefined, 'failed', undefined],
  ['DEADLINE_EXCEEDED', undefined, 'failed', undefined],
  ['ABORTED', undefined, 'failed', undefined],
  ['OUT_OF_RANGE', undefined, 'failed', undefined],
  ['DATA_LOSS', undefined, 'failed', undefined],
  ['RESOURCE_EXHAUSTED', undefined, 'refused', undefined],
  ['RESOURCE_EXHAUSTED', details(retryInfo('2s')), 'failed', 2000],
  ['INVALID_ARGUMENT', details(retryInfo('2s')), 'refused', undefined],
  ['UNIMPLEMENTED', undefined, 'refused', undefined],
  ['UNAUTHENTICATED', undefined, 'refused', undefined],
])('gRPC %s', (status, trailer, kind, retryAfterMs) => {
  const expected = kind === 'failed' ? { kind, cause: 'x', retryAfterMs } : { kind, cause: 'x' }
  expect(readGrpcError(status, 'x', trailer)).toEqual(expected)
})

test.each([
  [429, undefined, 'failed', undefined],
  [502, undefined, 'failed', undefined],
  [503, '7', 'failed', 7000],
  [504, 'Fri, 15 Jan 2027 08:00:30 GMT', 'failed', 30_000],
  [503, 'Fri, 15 Jan 2027 07:00:00 GMT', 'failed', 0],
  [503, 'soon', 'failed', undefined],
  [400, '7', 'refused', undefined],
  [404, undefined, 'refused', undefined],
  [500, undefined, 'refused', undefined],
])('HTTP %d, Retry-After %s', (status, retryAfter, kind, retryAfterMs) => {
  using _time = new VirtualTime(Date.UTC(2027, 0, 15, 8))
  const cause = `the server answered ${status}: why`
  const expected = kind === 'failed' ? { kind, cause, retryAfterMs } : { kind, cause }
  expect(readHttpError(status, encodeOfficial('google.rpc.Status', { message: 'why' }), retryAfter)).toEqual(expected)
})
