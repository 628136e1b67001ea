import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  decodeMessage,
  encodeMessage,
  field,
  INT32,
  message,
  repeated,
  STRING,
  UINT32,
} from '#base/protobuf/message.ts'
import { CalledBackends } from '#engine/backend/called-backends.ts'
import { type FieldName, indexOf, policyItem, stateOf } from '#engine/testing.ts'
import type { CallRequest, EndedCall } from '#exchange/call.ts'
import { callUnary, type UnaryCall } from '#exchange/call-unary.ts'
import { FailedCall } from '#exchange/failed-call.ts'
import { BodyMemory } from '#net/body/body-memory.ts'
import { frameMessage } from '#net/grpc/message-frame.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import { BODY_CHUNKED, type BodySink, type BodySource } from '#net/stream.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { type FramePeer, FrameServer } from '#net/testing/frame-server.ts'
import { END_STREAM, type Field, HEADERS, RST_STREAM } from '#net/testing/frames.ts'
import { RawServer } from '#net/testing/raw-peers.ts'
import type { BackendItem } from '#plan/item.ts'
import { envoyService } from '#test/support/envoy-definitions.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { type GrpcBackend, startGrpcBackend, startGrpcService } from '#test/support/grpc-peers.ts'
import { Calls } from './calls.ts'

// Calls over real connections: to servers of another implementation of gRPC, and to servers that misbehave.

const stops = new DisposableStack()
const pool = createClientPool()
stops.defer(() => pool.close())
const ended: EndedCall[] = []
const bodyMemory = new BodyMemory(Number.POSITIVE_INFINITY)
let plain: GrpcBackend
let secured: GrpcBackend

beforeAll(async () => {
  plain = await startGrpcBackend(['test.Echo'])
  secured = await startGrpcBackend(['test.Echo'], { cert: CERTIFICATES.server.cert, key: CERTIFICATES.server.key })
  stops.defer(() => plain.close())
  stops.defer(() => secured.close())
})
afterAll(() => stops.dispose())

const KEY = 'Service/default/rpc/80'
const origin = { kind: 'Service', namespace: 'default', name: 'rpc' }

/** Calls of the gateway to a Service with one endpoint; its port has no `appProtocol` unless `version` is set. */
function callsTo(port: number, policies: Readonly<Partial<Record<FieldName, unknown>>> = {}, version?: 'HTTP1') {
  const backend: BackendItem = {
    kind: 'backend',
    key: KEY,
    namespace: 'default',
    name: 'rpc',
    type: 'service',
    spec: { hostname: 'rpc.test', port: 80, ...(version !== undefined && { version }) },
    broken: undefined,
    origin,
  }
  const index = indexOf(
    backend,
    { kind: 'endpoints', key: 'Endpoints/default/rpc/80', addresses: [{ host: '127.0.0.1', port }], origin },
    {
      kind: 'configmap',
      key: 'ConfigMap/default/ca',
      namespace: 'default',
      name: 'ca',
      data: { 'ca.crt': CERTIFICATES.ca },
      origin,
    },
    ...Object.entries(policies).map(([field, spec]) => policyItem(field as FieldName, 'Service/default/rpc', spec)),
  )
  const called = new CalledBackends(stateOf())
  return new Calls({
    pool,
    bodyMemory,
    random: () => 0,
    backend: (key) => called.find(key, index),
    failed: () => {},
    ended: (call) => ended.push(call),
  }).ofGateway
}

const NEVER = new AbortController().signal

async function ask(calls: ReturnType<typeof callsTo>, method: string, text = 'hello', more: Partial<UnaryCall> = {}) {
  const path = `/test.Echo/${method}`
  const limits = { defaultDeadlineMs: 5000, signal: NEVER }
  const unary = { purpose: 'authorization', path, message: new TextEncoder().encode(text), ...limits, ...more } as const
  const answer = await callUnary(calls, KEY, unary)
  if (answer instanceof FailedCall) {
    return answer.text
  }
  return Buffer.from(answer).toString()
}

test('a service whose messages another implementation reads and writes', async () => {
  const service = envoyService('envoy/service/ratelimit/v3/rls.proto', 'envoy.service.ratelimit.v3.RateLimitService')
  const asked: unknown[] = []
  const { port, close } = await startGrpcService(service, {
    shouldRateLimit: (request) => {
      asked.push(request)
      return { overallCode: 'OVER_LIMIT', responseHeadersToAdd: [{ key: 'x-limit', value: 'grün' }] }
    },
  })
  stops.defer(close)
  const ENTRY = message({ key: field(1, STRING), value: field(2, STRING) })
  const REQUEST = message({
    domain: field(1, STRING),
    descriptors: repeated(2, message({ entries: repeated(1, ENTRY) })),
    hitsAddend: field(3, UINT32),
  })
  const RESPONSE = message({
    overallCode: field(1, INT32),
    responseHeaders: repeated(3, ENTRY),
  })
  const answer = await callUnary(callsTo(port), KEY, {
    purpose: 'authorization',
    path: '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
    message: encodeMessage(REQUEST, {
      domain: 'shop',
      descriptors: [{ entries: [{ key: 'user', value: 'Zoë' }] }, { entries: [{ key: 'path', value: '' }] }],
      hitsAddend: 3_000_000_000,
    }),
    defaultDeadlineMs: 5000,
    signal: NEVER,
  })
  expect(asked).toMatchObject([
    {
      domain: 'shop',
      descriptors: [{ entries: [{ key: 'user', value: 'Zoë' }] }, { entries: [{ key: 'path', value: '' }] }],
      hitsAddend: 3_000_000_000,
    },
  ])
  expect(decodeMessage(RESPONSE, answer as Uint8Array)).toEqual({
    overallCode: 2,
    responseHeaders: [{ key: 'x-limit', value: 'grün' }],
  })
})

test('a server without a named protocol is asked over HTTP/2 without TLS', async () => {
  expect(await ask(callsTo(plain.port), 'Say')).toBe('said hello')
  expect(ended.at(-1)).toMatchObject({
    purpose: 'authorization',
    backend: 'default/rpc',
    status: 200,
    grpcStatus: 'OK',
    failure: undefined,
  })
})

test('the head of a call', async () => {
  const server = http2.createServer()
  const seen: http2.IncomingHttpHeaders[] = []
  server.on('stream', (stream: http2.ServerHttp2Stream, fields: http2.IncomingHttpHeaders) => {
    seen.push(fields)
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '14' }, { endStream: true })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.close()
  })
  const { port } = server.address() as AddressInfo
  expect(await ask(callsTo(port), 'Say')).toBe('grpc-error: UNAVAILABLE')
  expect(seen.map((fields) => Object.fromEntries(Object.entries(fields)))).toEqual([
    {
      ':method': 'POST',
      ':authority': 'rpc.test',
      ':scheme': 'http',
      ':path': '/test.Echo/Say',
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-timeout': '5000m',
      'content-length': '10',
    },
  ])
  await ask(callsTo(port, { 'backend.http': { requestTimeout: '700ms' } }), 'Say')
  expect(seen.at(-1)!['grpc-timeout'], 'the policy of the server replaces the limit').toBe('700m')
})

test.each([
  ['appProtocol', {}, 'HTTP1'],
  ['a policy', { 'backend.http': { version: 'HTTP1' } }, undefined],
] as const)('HTTP/1.1 by %s is for other requests', async (_, policies, version) => {
  expect(await ask(callsTo(plain.port, policies, version), 'Say')).toBe('said hello')
})

test.each([
  ['', {}],
  [' that offers both versions to others', { alpnProtocols: ['http/1.1', 'h2'] }],
])('over TLS%s', async (_, more) => {
  const tls = { 'backend.tls': { caCertificateRefs: [{ name: 'ca' }], sni: 'server.test', ...more } }
  expect(await ask(callsTo(secured.port, tls), 'Say')).toBe('said hello')
})

test('policies of the server change the metadata', async () => {
  const policies = { 'backend.auth': { key: 'k3y' } }
  expect(await ask(callsTo(plain.port, policies), 'Say')).toBe('said hello')
  expect(plain.seen()!.get('authorization')).toEqual(['Bearer k3y'])
})

test('messages up to 4 MiB are received, larger ones are not', async () => {
  const size = 4 * 1024 * 1024 - 'said '.length
  expect(await ask(callsTo(plain.port), 'Say', 'x'.repeat(size))).toHaveLength(4 * 1024 * 1024)
  expect(await ask(callsTo(plain.port), 'Say', 'x'.repeat(size + 1))).toBe(
    'response-invalid: the message has 4194305 bytes; the limit is 4194304',
  )
  expect(bodyMemory.heldBytes).toBe(0)
})

test('an error has its name and its text', async () => {
  expect(await ask(callsTo(plain.port), 'Fail')).toBe('grpc-error: FAILED_PRECONDITION: not now: grün')
  expect(ended.at(-1)).toMatchObject({ status: 200, grpcStatus: 'FAILED_PRECONDITION', failure: undefined })
  expect(await ask(callsTo(plain.port), 'Unknown')).toMatch(/^grpc-error: UNIMPLEMENTED: /)
})

test('a deadline is told to the server, and ends the call there', async () => {
  const before = plain.cancelled()
  expect(await ask(callsTo(plain.port), 'Wait', 'hello', { defaultDeadlineMs: 50 })).toMatch(
    /^(?:timeout|grpc-error: DEADLINE_EXCEEDED)/,
  )
  await eventually('the server knows', () => plain.cancelled() > before)
})

test('a caller that leaves cancels the call', async () => {
  const before = plain.cancelled()
  const controller = new AbortController()
  const answer = ask(callsTo(plain.port), 'Wait', 'hello', { signal: controller.signal })
  setTimeout(() => controller.abort(), 50)
  expect(await answer).toBe('cancelled')
  await eventually('the server knows', () => plain.cancelled() > before)
})

test('a closed port', async () => {
  expect(await ask(callsTo(await freePort()), 'Say')).toMatch(/^connection-refused/)
})

test('a server of HTTP/1.1', async () => {
  const server = await new RawServer((peer) => peer.send('HTTP/1.1 400 Bad Request\r\n\r\n')).start()
  stops.defer(() => server.close())
  expect(await ask(callsTo(server.port), 'Say')).toMatch(/^not-http2/)
})

const HEAD: readonly Field[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
]
const OK: readonly Field[] = [['grpc-status', '0']]
const framed = (text: string) => Buffer.from(frameMessage(Buffer.from(text))).toString('latin1')

const FAULTS: [what: string, answer: (peer: FramePeer, stream: number) => void, expected: string][] = [
  ['resets the call', (peer, stream) => peer.reset(stream, 8), 'reset'],
  ['resets the connection', (peer) => peer.socket.destroy(), 'reset'],
  ['does not answer', () => {}, 'timeout'],
  ['sends a head and no more', (peer, stream) => peer.head(stream, HEAD), 'timeout'],
  [
    'sends half of a message and no more',
    (peer, stream) => {
      peer.head(stream, HEAD)
      peer.data(stream, framed('hello').slice(0, 7))
    },
    'timeout',
  ],
  [
    'closes within a message',
    (peer, stream) => {
      peer.head(stream, HEAD)
      peer.data(stream, framed('hello').slice(0, 7))
      peer.socket.destroy()
    },
    'reset',
  ],
  [
    'ends within a message',
    (peer, stream) => {
      peer.head(stream, HEAD)
      peer.data(stream, framed('hello').slice(0, 7))
      peer.head(stream, OK, END_STREAM)
    },
    'response-invalid: the message is incomplete',
  ],
  [
    'answers twice',
    (peer, stream) => {
      peer.head(stream, HEAD)
      peer.data(stream, framed('yes') + framed('no'))
      peer.head(stream, OK, END_STREAM)
    },
    'response-invalid: the response has more than one message',
  ],
  [
    'compresses',
    (peer, stream) => {
      peer.head(stream, HEAD)
      peer.data(stream, '\u0001\0\0\0\u0001x')
    },
    'response-invalid: the message is compressed',
  ],
  [
    'announces 100 MB',
    (peer, stream) => {
      peer.head(stream, HEAD)
      peer.data(stream, '\0\u0006\0\0\0')
    },
    'response-invalid: the message has 100663296 bytes; the limit is 4194304',
  ],
  [
    'answers without a message',
    (peer, stream) => peer.head(stream, [...HEAD, ...OK], END_STREAM),
    'response-invalid: the response has no message',
  ],
  [
    'answers without trailers',
    (peer, stream) => {
      peer.head(stream, HEAD)
      peer.data(stream, framed('yes'), END_STREAM)
    },
    'response-invalid: the response has no grpc-status',
  ],
  [
    'answers a status that is none',
    (peer, stream) => peer.head(stream, [...HEAD, ['grpc-status', 'fine']], END_STREAM),
    'grpc-error: UNKNOWN',
  ],
  [
    'answers a message and an error',
    (peer, stream) => {
      peer.head(stream, HEAD)
      peer.data(stream, framed('yes'))
      const trailers: Field[] = [
        ['grpc-status', '7'],
        ['grpc-message', 'no%20entry'],
      ]
      peer.head(stream, trailers, END_STREAM)
    },
    'grpc-error: PERMISSION_DENIED: no entry',
  ],
  [
    'answers with HTTP',
    (peer, stream) => peer.head(stream, [[':status', '503']], END_STREAM),
    'response-invalid: the server answered 503',
  ],
  [
    'answers a page without an end',
    (peer, stream) => {
      const page: Field[] = [
        [':status', '200'],
        ['content-type', 'text/html'],
      ]
      peer.head(stream, page)
      peer.data(stream, '<html>')
    },
    'response-invalid: the response is not gRPC',
  ],
]

test.each(FAULTS)('a server that %s', async (_, answer, expected) => {
  const server = new FrameServer((peer) => {
    peer.settings()
    peer.onRequest = (stream) => answer(peer, stream)
  })
  await server.start()
  using _closed = { [Symbol.dispose]: () => server.close() }
  const before = ended.length
  const defaultDeadlineMs = expected === 'timeout' ? 300 : 20_000
  expect(await ask(callsTo(server.destination.port), 'Say', 'hello', { defaultDeadlineMs })).toBe(expected)
  expect(ended.length - before, 'the call is counted once').toBe(1)
  expect(bodyMemory.heldBytes).toBe(0)
  const peer = server.peers[0]!
  // Calls that had not ended were reset, so the server does not continue without a client.
  const isOver = () => peer.socket.destroyed || peer.of(RST_STREAM, 1).length > 0 || peer.of(HEADERS, 1).length > 0
  await eventually('it is over', isOver)
})

/** A body to which the test adds. */
class OpenBody implements BodySource {
  readonly kind = BODY_CHUNKED
  readonly length = -1
  #sink: BodySink | undefined

  pipe(sink: BodySink): void {
    sink.source = this
    this.#sink = sink
  }

  pause(): void {}
  resume(): void {}

  send(text: string): void {
    const bytes = Buffer.from(frameMessage(Buffer.from(text)))
    this.#sink!.bytes(bytes, 0, bytes.length)
  }

  end(): void {
    this.#sink!.end()
  }
}

test('the body of a call may go on while the response is read', async () => {
  const body = new OpenBody()
  const request: CallRequest = {
    purpose: 'authorization',
    protocol: 'grpc',
    method: 'POST',
    path: '/test.Echo/Talk',
    headers: [],
    body,
    timeoutMs: 5000,
    signal: NEVER,
  }
  const pending = callsTo(plain.port)(KEY, request)
  await eventually('it is sent', () => body.send('one') === undefined)
  const response = await pending
  const pieces = response.body[Symbol.asyncIterator]()
  const next = async () => Buffer.from((await pieces.next()).value ?? []).toString('latin1')
  expect(await next()).toBe(framed('ONE'))
  body.send('two')
  expect(await next()).toBe(framed('TWO'))
  body.end()
  expect(await pieces.next()).toEqual({ done: true, value: undefined })
  expect(response.trailer('grpc-status')).toBe('0')
})
