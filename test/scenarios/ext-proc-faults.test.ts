import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { FrameReader, frameMessage } from '#net/grpc/message-frame.ts'
import { type FramePeer, FrameServer } from '#net/testing/frame-server.ts'
import { DATA, END_STREAM, type Field, RST_STREAM } from '#net/testing/frames.ts'
import { envoyService } from '#test/support/envoy-definitions.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

// Processors that misbehave. Each ends in the documented status, within its deadline, and other requests are not disturbed.

const { Process } = envoyService(
  'envoy/service/ext_proc/v3/external_processor.proto',
  'envoy.service.ext_proc.v3.ExternalProcessor',
)

const HEAD: readonly Field[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
]
const OK: readonly Field[] = [['grpc-status', '0']]
const framed = (bytes: Uint8Array) => Buffer.from(frameMessage(bytes)).toString('latin1')
const says = (answer: object) => framed(Process!.responseSerialize(answer))
const streamed = (message: 'requestBody' | 'responseBody', text: string, endOfStream = false) =>
  says({ [message]: { response: { bodyMutation: { streamedResponse: { body: Buffer.from(text), endOfStream } } } } })
const HEADERS = says({ requestHeaders: {} })
const RESPONSE_HEADERS = says({ responseHeaders: {} })

/** What the processor does; `data` is called for each message. */
interface Fault {
  readonly head?: (peer: FramePeer, stream: number) => void
  readonly data?: (peer: FramePeer, stream: number, count: number) => void
}

/** Connections on which a stream was reset by the processor, which the gateway does not confirm. */
const resetByServer = new Set<FramePeer>()
const reset = (peer: FramePeer, stream: number) => {
  peer.reset(stream, 2)
  resetByServer.add(peer)
}

const answering =
  (...answers: readonly string[]): NonNullable<Fault['data']> =>
  (peer, stream, count) => {
    if (count === 1) peer.head(stream, HEAD)
    const answer = answers[count - 1]
    if (answer !== undefined) peer.data(stream, answer)
  }

/** Answers the first message, and then ends the stream. */
const ending =
  (trailers: readonly Field[], ...answers: readonly string[]): NonNullable<Fault['data']> =>
  (peer, stream, count) => {
    if (count !== 1) return
    peer.head(stream, HEAD)
    for (const answer of answers) peer.data(stream, answer)
    peer.head(stream, trailers, END_STREAM)
  }

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let gateway: TestGateway
let port: number
let fault: Fault = {}
let server: FrameServer
let reached = 0
/** Requests to the processor. */
let asked = 0
/** Of an answer of the processor. */
const LIMIT_MS = 400

/** After some turns of the event loop, in which everything that was sent arrives. */
async function passLimit(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 2))
  time.skip(LIMIT_MS)
}

let respond: (response: http.ServerResponse) => void

beforeAll(async () => {
  server = new FrameServer((peer) => {
    const readers = new Map<number, FrameReader>()
    let count = 0
    peer.settings()
    peer.onRequest = (stream) => {
      readers.set(stream, new FrameReader(1_000_000))
      count = 0
      asked++
      fault.head?.(peer, stream)
    }
    peer.onData = (stream) => {
      const reader = readers.get(stream)!
      reader.push(peer.of(DATA, stream).at(-1)!.payload)
      while (reader.next() !== undefined) fault.data?.(peer, stream, ++count)
    }
  })
  await server.start()
  stops.defer(() => server.close())
  const backend = http.createServer((request, response) => {
    reached++
    request.resume()
    request.on('end', () => respond(response))
  })
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    backend.close()
    backend.closeAllConnections()
  })
  port = await freePort()
  const options: Readonly<Record<string, object>> = {
    default: {},
    headers: { requestBodyMode: 'None', responseBodyMode: 'None' },
    buffered: { requestBodyMode: 'Buffered', responseBodyMode: 'Buffered' },
  }
  const named = (name: string) => ({ group: 'gatewright.dev', kind: 'ProxyBackend', name })
  const names = Object.keys(options)
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('backend', (backend.address() as AddressInfo).port),
      backendYaml('faulty', server.destination.port),
      backendYaml('nothing', await freePort()),
      policyYaml('fast', 'ProxyBackend', 'faulty', { backend: { http: { requestTimeout: `${LIMIT_MS}ms` } } }),
      ...[...names, 'refused', 'plain'].map((name) => routeYaml(name, `/${name}`, 'backend')),
      ...names.map((name) =>
        policyYaml(name, 'HTTPRoute', name, {
          traffic: { extProc: { backendRef: named('faulty'), processingOptions: options[name] } },
        }),
      ),
      policyYaml('refused', 'HTTPRoute', 'refused', { traffic: { extProc: { backendRef: named('nothing') } } }),
    ),
  })
  stops.defer(() => objects.remove())
  gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.use(gateway)
})
afterAll(() => stops.disposeAsync())

beforeEach(() => {
  fault = {}
  reached = 0
  asked = 0
  respond = (response) => response.end('from the backend')
})

async function post(path: string, body: string | Uint8Array = 'hello') {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body })
  const id = response.headers.get('gatewright-decision')
  return { status: response.status, body: await response.text(), detail: id === null ? undefined : await detailOf(id) }
}

async function detailOf(id: string): Promise<string | undefined> {
  const answer = await fetch(`${gateway.url(15_000)}/decisions?id=${id}`)
  const [record] = Object.values((await answer.json()) as object).flat() as { detail: string }[]
  return record?.detail
}

/** All streams of the processor are over. */
const streamsOver = () =>
  eventually('the streams are over', () =>
    server.peers.every((peer) => {
      const streams = new Set(peer.frames.map(({ stream }) => stream).filter((stream) => stream > 0))
      const over = (stream: number) =>
        resetByServer.has(peer) ||
        peer.of(RST_STREAM, stream).length > 0 ||
        peer.of(DATA, stream).some(({ flags }) => (flags & END_STREAM) !== 0)
      return peer.socket.destroyed || [...streams].every(over)
    }),
  )

const WRONG = 'that it was not asked for'
const FAULTS: [what: string, route: string, fault: Fault, detail: RegExp | string][] = [
  ['resets the stream', 'headers', { head: reset }, 'reset'],
  ['closes the connection', 'headers', { head: (peer) => void peer.socket.destroy() }, 'reset'],
  ['stalls', 'headers', {}, 'timeout'],
  ['stalls after its head', 'headers', { head: (peer, stream) => peer.head(stream, HEAD) }, 'timeout'],
  ['stalls while a body is streamed', 'default', {}, 'timeout'],
  ['stalls after the headers of a streamed body', 'default', { data: answering(HEADERS) }, 'timeout'],
  ['stalls with a buffered body', 'buffered', { data: answering(HEADERS) }, 'timeout'],
  [
    'answers late',
    'headers',
    {
      data: (peer, stream) => {
        setTimeout(() => {
          peer.head(stream, HEAD)
          peer.data(stream, HEADERS)
        }, 900).unref()
      },
    },
    'timeout',
  ],
  [
    'answers garbage',
    'headers',
    { data: answering(framed(Buffer.from([0xff, 0xff, 0xff]))) },
    'response-invalid: the message is not a ProcessingResponse',
  ],
  ['answers nothing', 'headers', { data: answering(says({})) }, 'response-invalid: an answer without content'],
  [
    'answers another part',
    'headers',
    { data: answering(RESPONSE_HEADERS) },
    `an answer to headers of the response ${WRONG}`,
  ],
  [
    'answers a body first',
    'default',
    { data: answering(streamed('requestBody', 'x')) },
    `an answer to a body of the request ${WRONG}`,
  ],
  [
    'answers trailers',
    'headers',
    { data: answering(says({ requestTrailers: {} })) },
    `an answer to trailers of the request ${WRONG}`,
  ],
  ['answers twice', 'buffered', { data: answering(HEADERS + HEADERS) }, `an answer to headers of the request ${WRONG}`],
  [
    'answers with HTTP',
    'headers',
    { head: (peer, stream) => peer.answer(stream, 'hello') },
    'response-invalid: the response is not gRPC',
  ],
  [
    'ends with an error',
    'headers',
    {
      data: ending([
        ['grpc-status', '14'],
        ['grpc-message', 'not%20now'],
      ]),
    },
    'grpc-error: UNAVAILABLE: not now',
  ],
  [
    'ends with an error within a body',
    'default',
    { data: ending([['grpc-status', '13']], HEADERS, streamed('requestBody', 'he')) },
    'grpc-error: INTERNAL',
  ],
  [
    'ends normally within a streamed body',
    'default',
    {
      data: (peer, stream, count) => count === 3 && ending(OK, HEADERS, streamed('requestBody', 'he'))(peer, stream, 1),
    },
    'it ended the stream before it returned the body',
  ],
  [
    'announces 100 MB',
    'headers',
    {
      data: (peer, stream) => {
        peer.head(stream, HEAD)
        peer.data(stream, `\0\u0006\0\0\0${'x'.repeat(16_000)}`)
      },
    },
    'response-invalid: the message has 100663296 bytes; the limit is 4194304',
  ],
  ['asks for more time', 'headers', { data: answering(says({ overrideMessageTimeout: { seconds: 60 } })) }, 'timeout'],
  [
    'keeps a streamed body',
    'default',
    { data: answering(HEADERS, says({ requestBody: {} })) },
    'an answer to a streamed body without streamed_response',
  ],
]

test.each(FAULTS)('a processor that %s (%s)', async (_, route, wrong, detail) => {
  fault = wrong
  const posted = post(`/${route}`)
  if (detail === 'timeout') {
    await eventually('the processor is asked', () => asked > 0)
    await passLimit()
  }
  expect(await posted).toEqual({
    status: 500,
    body: 'ext_proc failed',
    detail: expect.stringMatching(`^processor default/faulty: ${String(detail).replaceAll('.', '\\.')}`),
  })
  await streamsOver()
  expect((await post('/plain')).status).toBe(200)
})

test('a processor that refuses connections', async () => {
  expect(await post('/refused')).toEqual({
    status: 500,
    body: 'ext_proc failed',
    detail: expect.stringMatching(/^processor default\/nothing: connection-refused/),
  })
  expect(reached).toBe(0)
})

test('a processor that never reads', async () => {
  // Without window updates it gets 64 KiB.
  const posted = post('/default', new Uint8Array(1_000_000))
  await eventually('the processor is asked', () => asked > 0)
  await passLimit()
  expect(await posted).toMatchObject({
    status: 500,
    detail: 'processor default/faulty: timeout',
  })
  await streamsOver()
  // The connection has no window left.
  for (const { socket } of server.peers) socket.destroy()
})

test.each([
  ['before the answer', ending(OK)],
  ['with the answer', ending(OK, HEADERS)],
])('a processor that ends normally %s to headers is not asked again', async (_, data) => {
  fault = { data }
  expect(await post('/headers')).toMatchObject({ status: 200, body: 'from the backend' })
})

test('a processor that fails between the messages', async () => {
  fault = { data: ending([['grpc-status', '13']], HEADERS) }
  expect(await post('/headers')).toMatchObject({
    status: 500,
    detail: 'processor default/faulty: grpc-error: INTERNAL',
  })
})

test('a response that has begun is reset', async () => {
  respond = (response) => {
    response.write('first')
    setTimeout(() => response.end(' second'), 100)
  }
  fault = {
    data: (peer, stream, count) => {
      if (count === 1) peer.head(stream, HEAD)
      if (count === 1) peer.data(stream, HEADERS + streamed('requestBody', '', true))
      if (count === 4) peer.data(stream, RESPONSE_HEADERS + streamed('responseBody', 'first'))
      if (count === 6) reset(peer, stream)
    },
  }
  const response = await fetch(`http://127.0.0.1:${port}/default`, { method: 'POST', body: 'hello' })
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow()
  await eventually('the log says why', () => gateway.output.stdout.includes('processor default/faulty: reset'))
})
