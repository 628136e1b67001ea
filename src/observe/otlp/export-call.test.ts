import { expect, test } from 'vitest'
import { CallError, type CallRequest, type CallResponse } from '#exchange/call.ts'
import { frameMessage } from '#net/grpc/message-frame.ts'
import { encodeOfficial } from '#test/support/otlp-definitions.ts'
import { exportOver } from './export-call.ts'

type Fields = Readonly<Record<string, string>>

interface Answer {
  readonly status?: number
  readonly headers?: Fields
  readonly body?: readonly Uint8Array[]
  readonly trailers?: Fields
}

const NAMES = { GRPC: '/opentelemetry.proto.collector.logs.v1.LogsService/Export', HTTP: '/v1/logs' } as const

/** Exports over a call that is answered so, or fails so. */
async function exported(protocol: 'GRPC' | 'HTTP', answer: Answer | Error) {
  const requests: CallRequest[] = []
  const call = async (_: string, request: CallRequest): Promise<CallResponse> => {
    requests.push(request)
    if (answer instanceof Error) throw answer
    const { status = 200, headers = {}, body = [], trailers = {} } = answer
    return {
      status,
      endpoint: 'e:1',
      headers: Object.entries(headers),
      header: (name) => headers[name],
      body: (async function* () {
        yield* body
      })(),
      trailer: (name) => trailers[name],
    }
  }
  const target = { signal: 'logs', backend: 'b', protocol, path: NAMES.HTTP, resource: () => [], key: 'k' } as const
  const what = { target, request: new Uint8Array([1, 2]), userAgent: 'gatewright/1', signal: AbortSignal.timeout(9999) }
  const result = await exportOver(call, what)
  return { result, request: requests[0]! }
}

const accepted = { kind: 'accepted', rejectedItems: 0, detail: undefined }
const partial = encodeOfficial('opentelemetry.proto.collector.logs.v1.ExportLogsServiceResponse', {
  partialSuccess: { rejectedLogRecords: '3', errorMessage: 'too old' },
})
const grpc = { 'content-type': 'application/grpc' }
const exhausted = { 'grpc-status': '8', 'grpc-message': 'later' }
const retry = Buffer.from(
  encodeOfficial('google.rpc.Status', {
    details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '2s' }] as never[],
  }),
).toString('base64')
const later = { kind: 'failed', cause: 'grpc-error: RESOURCE_EXHAUSTED: later', retryAfterMs: 2000 }

test.each<[string, 'GRPC' | 'HTTP', Answer | Error, object]>([
  [
    'success',
    'GRPC',
    { headers: grpc, body: [frameMessage(new Uint8Array())], trailers: { 'grpc-status': '0' } },
    accepted,
  ],
  [
    'partial success',
    'GRPC',
    { headers: grpc, body: [frameMessage(partial)], trailers: { 'grpc-status': '0' } },
    { kind: 'accepted', rejectedItems: 3, detail: 'too old' },
  ],
  [
    'a delay in the trailers',
    'GRPC',
    { headers: grpc, trailers: { ...exhausted, 'grpc-status-details-bin': retry } },
    later,
  ],
  [
    'a delay in the head of a response without a body',
    'GRPC',
    { headers: { ...grpc, ...exhausted, 'grpc-status-details-bin': retry } },
    later,
  ],
  [
    'a status of a proxy server before it',
    'GRPC',
    { status: 503, headers: { 'retry-after': '7' } },
    { kind: 'failed', retryAfterMs: 7000 },
  ],
  ['success', 'HTTP', { body: [] }, accepted],
  ['partial success', 'HTTP', { body: [partial] }, { kind: 'accepted', rejectedItems: 3 }],
  ['an endless response', 'HTTP', { body: [partial, new Uint8Array(65_536)] }, accepted],
  ['a full server', 'HTTP', { status: 429, headers: { 'retry-after': '7' } }, { kind: 'failed', retryAfterMs: 7000 }],
  ['a refusal', 'HTTP', { status: 400 }, { kind: 'refused' }],
  ['no connection', 'HTTP', new CallError('connection-refused'), { kind: 'failed', cause: 'connection-refused' }],
  ['no connection', 'GRPC', new CallError('reset', 'GOAWAY'), { kind: 'failed', cause: 'reset: GOAWAY' }],
])('%s over %s', async (_, protocol, answer, expected) => {
  const { result, request } = await exported(protocol, answer)
  expect(result).toMatchObject(expected)
  expect(request).toMatchObject({
    purpose: 'telemetry',
    method: 'POST',
    path: NAMES[protocol],
    defaultDeadlineMs: 10_000,
  })
  expect(request.headers).toContainEqual(['user-agent', 'gatewright/1'])
})

test('a bug is no failure of the server', async () => {
  await expect(exported('HTTP', new TypeError('bug'))).rejects.toThrow('bug')
})
