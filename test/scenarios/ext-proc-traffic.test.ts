import http from 'node:http'
import http2, { type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { status } from '@grpc/grpc-js'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { startWeather } from '#examples/upstreams/mcp.ts'
import { RawClient } from '#net/testing/raw-peers.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { GrpcCaller, startGrpcBackend } from '#test/support/grpc-peers.ts'
import { backendYaml, createObjectsFolder, joinYaml, listenersYaml, routeYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import {
  type AnswerPart,
  headersOf,
  setting,
  startProcessor,
  type Talk,
  type TestProcessor,
  unchanged,
} from '#test/support/processor.ts'
import { verifies } from '#test/support/verifies.ts'

// External processing together with everything else that happens to a request.

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let gateway: TestGateway
let port: number
/** A listener whose requests are processed before they are routed. */
let earlyPort: number
let processor: TestProcessor
let answer: AnswerPart = unchanged
interface Seen {
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
  readonly trailers: http2.IncomingHttpHeaders
}
/** Requests to the backends. */
const seen: Seen[] = []

async function listen(server: Server | http2.Http2Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void server.close())
  return (server.address() as AddressInfo).port
}

async function serveHttp2(stream: ServerHttp2Stream, headers: http2.IncomingHttpHeaders): Promise<void> {
  let trailers: http2.IncomingHttpHeaders = {}
  stream.on('trailers', (fields) => {
    trailers = fields
  })
  seen.push({ url: headers[':path']!, headers, body: await text(stream), trailers })
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'x-sum': 'of the backend' }))
  stream.end('from the backend')
}

async function serveHttp(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const { url = '', headers } = request
  const body = await text(request)
  seen.push({ url, headers, body, trailers: {} })
  if (url.startsWith('/again') && headers['x-retry-attempt'] === undefined) response.statusCode = 503
  if (url.endsWith('/chat/completions')) {
    const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }]
    response.setHeader('content-type', 'application/json')
    return void response.end(JSON.stringify({ id: 'c', model: 'm', choices, usage }))
  }
  if (url.startsWith('/slow')) return void setTimeout(() => response.end('late'), 3000).unref()
  response.end(`got ${body}`)
}

const refOf = (name: string) => ({ group: 'gatewright.dev', kind: 'ProxyBackend', name })
const processing = (processingOptions: object = {}) => ({ backendRef: refOf('processor'), processingOptions })
const HEADERS_ONLY = {
  requestBodyMode: 'None',
  responseBodyMode: 'None',
  requestTrailerMode: 'Skip',
  responseTrailerMode: 'Skip',
}
const NO_TRAILERS = { requestTrailerMode: 'Skip', responseTrailerMode: 'Skip' }
const inForm = (mode: string) => ({ requestBodyMode: mode, responseBodyMode: mode })
const aiYaml = (name: string, at: number) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({ ai: { provider: { providerOne: {}, host: '127.0.0.1', port: at } } })}
`
const mcpYaml = (name: string, at: number) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: ${JSON.stringify({ mcp: { targets: [{ name: 'weather', static: { host: '127.0.0.1', port: at } }] } })}
`

beforeAll(async () => {
  processor = await startProcessor((part, talk) => answer(part, talk))
  stops.defer(() => processor.close())
  const rpc = await startGrpcBackend(['test.Echo'])
  stops.defer(() => rpc.close())
  const weather = await startWeather({ port: 0 })
  stops.defer(() => weather.close())
  const newer = http2.createServer()
  newer.on('stream', (stream: ServerHttp2Stream, headers) => void serveHttp2(stream, headers).catch(() => {}))
  const older = http.createServer((request, response) => void serveHttp(request, response).catch(() => {}))
  const unread = http.createServer((_, response) => response.writeHead(413).end('too much'))
  stops.defer(() => unread.closeAllConnections())
  older.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nwelcome')
    socket.on('data', (bytes: Buffer) => socket.end(bytes))
  })
  stops.defer(() => older.closeAllConnections())
  const olderPort = await listen(older)
  port = await freePort()
  earlyPort = await freePort()
  const policies: Readonly<Record<string, [backend: string, traffic: object]>> = {
    streamed: ['newer', { extProc: processing() }],
    untrailed: ['newer', { extProc: processing(NO_TRAILERS) }],
    'trailers-only': ['newer', { extProc: processing(inForm('None')) }],
    buffered: ['newer', { extProc: processing(inForm('Buffered')) }],
    partial: ['newer', { extProc: processing(inForm('BufferedPartial')) }],
    'test.Echo': ['rpc', { extProc: processing() }],
    again: ['older', { extProc: processing(), retry: { codes: [503], attempts: 1 } }],
    copied: ['older', { extProc: processing() }],
    upgraded: ['older', { extProc: processing() }],
    either: [
      'older',
      {
        extProc: {
          conditional: [
            { condition: 'request.headers["x-process"] == "no"', policy: { backendRef: refOf('nothing') } },
            { condition: 'request.method == "POST"', policy: processing(HEADERS_ONLY) },
          ],
        },
      },
    ],
    metadata: [
      'older',
      {
        extProc: processing(HEADERS_ONLY),
        transformation: { request: { set: [{ name: 'x-tier', value: 'extproc.tier' }] } },
      },
    ],
    read: [
      'older',
      {
        extProc: processing(),
        transformation: { request: { set: [{ name: 'x-read', value: 'string(request.body)' }] } },
      },
    ],
    changed: [
      'older',
      { extProc: processing(), transformation: { response: { body: 'string(response.body) + ", changed"' } } },
    ],
    direct: ['older', { extProc: processing(), directResponse: { status: 200, body: 'direct' } }],
    chat: ['models', { extProc: processing() }],
    mcp: ['tools', { extProc: processing() }],
    unread: ['unread', { extProc: processing() }],
    slow: ['older', { extProc: processing(), timeouts: { request: '300ms' } }],
  }
  const mirror = `      filters: [${JSON.stringify({ type: 'RequestMirror', requestMirror: { backendRef: refOf('copies') } })}]\n`
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      listenersYaml('main', [
        `{ name: http, protocol: HTTP, port: ${port} }`,
        `{ name: early, protocol: HTTP, port: ${earlyPort} }`,
      ]),
      backendYaml('older', olderPort),
      backendYaml('copies', olderPort),
      backendYaml('unread', await listen(unread)),
      backendYaml('newer', await listen(newer)),
      backendYaml('rpc', rpc.port),
      backendYaml('nothing', await freePort()),
      backendYaml('processor', processor.port),
      ...['newer', 'rpc'].map((name) =>
        policyYaml(name, 'ProxyBackend', name, { backend: { http: { version: 'HTTP2' } } }),
      ),
      // Longer than the time after which a client counts as gone.
      policyYaml('processor', 'ProxyBackend', 'processor', { backend: { http: { requestTimeout: '10s' } } }),
      aiYaml('models', olderPort),
      mcpYaml('tools', Number(new URL(weather.url).port)),
      ...Object.entries(policies).flatMap(([name, [backend, traffic]]) => {
        const key = name.toLowerCase().replaceAll('.', '-')
        return [
          routeYaml(key, `/${name}`, backend, name === 'copied' ? mirror : ''),
          policyYaml(`of-${key}`, 'HTTPRoute', key, { traffic }),
        ]
      }),
      policyYaml('early', 'Gateway', 'main', {
        targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main', sectionName: 'early' }],
        traffic: { phase: 'PreRouting', extProc: processing() },
      }),
    ),
  })
  stops.defer(() => objects.remove())
  gateway = await startGateway({ files: [objects.path], workers: 1 })
  stops.use(gateway)
})
afterAll(() => stops.disposeAsync())

beforeEach(() => {
  answer = unchanged
  seen.length = 0
  processor.talks.length = 0
})

afterEach(() =>
  eventually('all streams are over', () => processor.talks.every(({ ended, cancelled }) => ended || cancelled)),
)

const talk = (): Talk => processor.talks[0]!
const at =
  (request: string, found: object): AnswerPart =>
  (part) =>
    part.request === request ? found : unchanged(part)

async function post(path: string, body: string, headers: Record<string, string> = {}, to = port) {
  const response = await fetch(`http://127.0.0.1:${to}${path}`, { method: 'POST', body, headers })
  return { status: response.status, headers: response.headers, body: await response.text() }
}

interface Http2Answer {
  readonly headers: http2.IncomingHttpHeaders
  readonly body: string
  readonly trailers: http2.IncomingHttpHeaders
}

/** A request with trailers, as gRPC alone may have them. */
async function sendHttp2(path: string, body: string): Promise<Http2Answer> {
  const client = http2.connect(`http://127.0.0.1:${port}`)
  using _ = { [Symbol.dispose]: () => client.destroy() }
  const fields = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
  const stream = client.request(fields, { waitForTrailers: true })
  let headers: http2.IncomingHttpHeaders = {}
  let trailers: http2.IncomingHttpHeaders = {}
  stream.on('response', (received) => {
    headers = received
  })
  stream.on('trailers', (received) => {
    trailers = received
  })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 'of the client' }))
  stream.end(body)
  return { body: await text(stream), headers, trailers }
}

verifies(
  [
    'traffic.extProc/trailer-mode',
    'traffic.extProc/requestTrailerMode-default',
    'traffic.extProc/responseTrailerMode-default',
  ],
  'trailers are sent by default, and may be changed',
  async () => {
    answer = (part) => {
      if (part.request.endsWith('Trailers'))
        return { [part.request]: setting({ 'x-sum': 'changed', 'x-new': '1', host: 'x', 'content-type': 'x' }) }
      return unchanged(part)
    }
    for (const [route, body] of [
      ['streamed', ['Body hello', 'Trailers']],
      ['trailers-only', ['Trailers']],
      ['buffered', ['Body hello', 'Trailers']],
      ['partial', ['Body hello', 'Trailers']],
    ] as const) {
      const { trailers, body: received } = await sendHttp2(`/${route}`, 'hello')
      const inResponse = body.map((part) => part.replace('hello', 'from the backend'))
      expect([route, processor.talks.at(-1)!.seen]).toEqual([
        route,
        [
          'requestHeaders',
          ...body.map((part) => `request${part}`),
          'responseHeaders',
          ...inResponse.map((part) => `response${part}`),
        ],
      ])
      expect(seen.at(-1)).toMatchObject({ body: 'hello', trailers: { 'x-sum': 'changed', 'x-new': '1' } })
      expect(seen.at(-1)!.trailers['content-type']).toBeUndefined()
      expect([received, trailers]).toMatchObject([
        'from the backend',
        { 'grpc-status': '0', 'x-sum': 'changed', 'x-new': '1' },
      ])
    }
    const [part] = talk().parts.filter(({ request }) => request === 'requestTrailers')
    expect(headersOf({ headers: part!.requestTrailers!.trailers, endOfStream: false })).toEqual({
      'x-sum': 'of the client',
    })
  },
)

verifies(
  'traffic.extProc/trailer-mode',
  'trailers that are skipped are not sent, and the body ends without them',
  async () => {
    const { trailers } = await sendHttp2('/untrailed', 'hello')
    expect(talk().seen).toEqual([
      'requestHeaders',
      'requestBody hello',
      'requestBody end',
      'responseHeaders',
      'responseBody from the backend',
      'responseBody end',
    ])
    // Those of a request could otherwise repeat headers, which the processor reads.
    expect(seen[0]!.trailers['x-sum']).toBeUndefined()
    expect(trailers).toMatchObject({ 'grpc-status': '0', 'x-sum': 'of the backend' })
  },
)

test('a gRPC call streams in both directions at once', async () => {
  const caller = new GrpcCaller(`127.0.0.1:${port}`, 'test.Echo')
  stops.defer(() => caller.client.close())
  const call = caller.talk()
  const heard: string[] = []
  call.on('data', (word: string) => {
    heard.push(word)
    if (heard.length < 20) call.write(`word ${heard.length}`)
    else call.end()
  })
  call.write('word 0')
  await new Promise<void>((resolve, reject) => call.on('end', resolve).on('error', reject))
  expect(heard).toEqual(Array.from({ length: 20 }, (_, i) => `WORD ${i}`))
})

test('a gRPC client gets statuses', async () => {
  const caller = new GrpcCaller(`127.0.0.1:${port}`, 'test.Echo')
  stops.defer(() => caller.client.close())
  expect(await caller.ask('say', 'hello')).toMatchObject({ code: status.OK, message: 'said hello' })
  const refuse = { status: { code: 403 }, body: Buffer.from('not you: grün') }
  answer = at('requestHeaders', { immediateResponse: refuse })
  expect(await caller.ask('say', 'hello')).toMatchObject({ code: status.PERMISSION_DENIED, details: 'not you: grün' })
  answer = at('requestHeaders', { immediateResponse: { ...refuse, grpcStatus: { status: 8 } } })
  expect(await caller.ask('say', 'hello')).toMatchObject({ code: status.RESOURCE_EXHAUSTED })
  answer = at('requestHeaders', {})
  expect(await caller.ask('say', 'hello')).toMatchObject({ code: status.UNKNOWN, details: 'ext_proc failed' })
})

/** Replaces streamed bodies of requests. */
const upperCase: AnswerPart = (part) => {
  if (part.request !== 'requestBody') return unchanged(part)
  const { body, endOfStream } = part.requestBody!
  const streamedResponse = { body: Buffer.from(body.toString().toUpperCase()), endOfStream }
  return { requestBody: { response: { bodyMutation: { streamedResponse } } } }
}

test('a retry sends the processed body again', async () => {
  answer = upperCase
  expect(await post('/again', 'hello')).toMatchObject({ status: 200, body: 'got HELLO' })
  expect(seen.map(({ body }) => body)).toEqual(['HELLO', 'HELLO'])
  expect(processor.talks.map((one) => one.seen.filter((part) => part.startsWith('response')).length)).toEqual([3])
})

test('a copy for a mirror has the processed body', async () => {
  answer = upperCase
  expect((await post('/copied', 'hello')).body).toBe('got HELLO')
  await eventually('the copy arrives', () => seen.length === 2)
  expect(seen.map(({ body }) => body)).toEqual(['HELLO', 'HELLO'])
})

test('an upgrade is processed as a request, and then left alone', async () => {
  const client = await RawClient.connect(port)
  client.send('GET /upgraded HTTP/1.1\r\nhost: a.test\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
  await client.until((received) => received.includes('welcome'))
  await eventually('the stream ends', () => talk().ended)
  expect(talk().seen).toEqual(['requestHeaders end'])
  client.send('hello')
  await client.until((received) => received.endsWith('hello'))
  client.socket.destroy()
})

test('before routing, the processor chooses the route; on the way back it comes last', async () => {
  answer = (part, of) => {
    const isFirst = processor.talks[0] === of
    const { request } = part
    if (request === 'requestHeaders' && isFirst)
      return { requestHeaders: { response: setting({ ':path': '/copied/x' }) } }
    if (request === 'responseHeaders') {
      return { responseHeaders: { response: setting({ 'x-last': isFirst ? 'before routing' : 'after routing' }) } }
    }
    return unchanged(part)
  }
  const { status: code, headers, body } = await post('/nowhere', 'hello', {}, earlyPort)
  expect([code, body, headers.get('x-last'), seen[0]!.url]).toEqual([200, 'got hello', 'before routing', '/copied/x'])
  expect(processor.talks.map((one) => one.seen.length)).toEqual([6, 6])
})

test('the condition of a request selects the processor, for its response, too', async () => {
  expect((await fetch(`http://127.0.0.1:${port}/either`)).status).toBe(200)
  expect(processor.talks).toEqual([])
  expect((await post('/either', 'hello')).status).toBe(200)
  expect(talk().seen).toEqual(['requestHeaders', 'responseHeaders'])
  expect((await post('/either', 'hello', { 'x-process': 'no' })).status).toBe(500)
})

test('metadata of the processor is for later expressions', async () => {
  answer = at('requestHeaders', {
    requestHeaders: {},
    dynamicMetadata: { fields: { tier: { stringValue: 'gold' } } },
  })
  await post('/metadata', 'hello')
  expect(seen[0]!.headers['x-tier']).toBe('gold')
})

test('expressions after it read the processed body', async () => {
  answer = upperCase
  expect((await post('/read', 'hello')).body).toBe('got HELLO')
  expect(seen[0]!.headers['x-read']).toBe('HELLO')
})

test('it gets responses as transformations have left them', async () => {
  expect((await post('/changed', 'hello')).body).toBe('got hello, changed')
  expect(talk().seen.slice(3)).toEqual(['responseHeaders', 'responseBody got hello, changed', 'responseBody end'])
})

test('responses of the gateway are not processed', async () => {
  expect((await post('/direct', 'hello')).body).toBe('direct')
  expect(talk().seen.filter((part) => part.startsWith('response'))).toEqual([])
  await eventually('the stream ends', () => talk().ended || talk().cancelled)
})

test('a call to a model is processed as its client sends it', async () => {
  const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
  const { status: code, body } = await post('/chat/v1/chat/completions', chat, { 'content-type': 'application/json' })
  expect([code, JSON.parse(body).choices[0].message.content]).toEqual([200, 'yes'])
  const sent = talk().parts.flatMap(({ requestBody }) => requestBody?.body.toString() ?? [])
  expect(sent.join('')).toBe(chat)
  answer = (part) => {
    const isBody = part.request === 'requestBody' && !part.requestBody!.endOfStream
    const changed = Buffer.from(chat.replace('hello', 'bye'))
    const streamedResponse = { body: changed, endOfStream: false }
    return isBody ? { requestBody: { response: { bodyMutation: { streamedResponse } } } } : unchanged(part)
  }
  await post('/chat/v1/chat/completions', chat, { 'content-type': 'application/json' })
  expect(JSON.parse(seen.at(-1)!.body).messages).toEqual([{ role: 'user', content: 'bye' }])
})

test('MCP messages are processed as their client sends and gets them', async () => {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params }
  const accepts = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  const { status: code, body } = await post('/mcp', JSON.stringify(message), accepts)
  expect([code, body.includes('serverInfo')]).toEqual([200, true])
  const sentBack = talk().parts.flatMap(({ responseBody }) => responseBody?.body.toString() ?? [])
  expect(sentBack.join('')).toBe(body)
})

test('a client that does not read stops the processor, not the worker', async () => {
  const piece = Buffer.alloc(100_000, 'x')
  const count = 300
  let written = 0
  answer = (part, { stream }) => {
    if (part.request !== 'responseBody') return unchanged(part)
    if (!part.responseBody!.endOfStream) return undefined
    const write = (): void => {
      written++
      const streamedResponse = { body: piece, endOfStream: written === count }
      const answered = { responseBody: { response: { bodyMutation: { streamedResponse } } } }
      stream.write(answered, () => written < count && write())
    }
    write()
    return undefined
  }
  const response = await fetch(`http://127.0.0.1:${port}/read`, { method: 'POST', body: 'hello' })
  let before = -1
  await eventually('nothing moves', async () => {
    const isStill = written === before
    before = written
    await new Promise((resolve) => setTimeout(resolve, 100))
    return isStill && written > 0
  })
  expect(written).toBeLessThan(count)
  expect((await post('/either', 'hello')).status).toBe(200)
  expect((await response.arrayBuffer()).byteLength).toBe(count * piece.length)
})

test('a backend that responds without reading the request is not waited for', async () => {
  const init = { method: 'POST', body: new Uint8Array(10_000_000) }
  const response = await fetch(`http://127.0.0.1:${port}/unread`, init)
  expect([response.status, await response.text()]).toEqual([413, 'too much'])
})

test('a client that leaves cancels the conversation', async () => {
  answer = () => undefined
  const controller = new AbortController()
  const pending = fetch(`http://127.0.0.1:${port}/streamed?left`, {
    method: 'POST',
    body: 'hello',
    signal: controller.signal,
  })
  await eventually('the processor is asked', () => processor.talks.length > 0)
  controller.abort()
  await expect(pending).rejects.toThrow()
  await time.sooner('the stream is reset', () => talk().cancelled)
  const line = () => gateway.output.stdout.split('\n').find((one) => one.includes('/streamed?left'))
  await eventually('the line of the request', () => line() !== undefined)
  // Not the time limit of the processor.
  expect(line()).toContain('client connection ended: reset')
})

test('a client that resets its connection while its body waits cancels the conversation', async () => {
  answer = () => undefined
  const before = processor.talks.length
  const client = await RawClient.connect(port)
  client.send('POST /either?reset HTTP/1.1\r\nHost: h\r\nContent-Length: 300\r\n\r\nx')
  await eventually('the processor is asked', () => processor.talks.length > before)
  client.socket.resetAndDestroy()
  const line = () => gateway.output.stdout.split('\n').find((one) => one.includes('/either?reset'))
  await eventually('the line of the request', () => line() !== undefined)
  // Not the time limit of the processor.
  expect(line()).toContain('client connection ended: reset')
})

test('the timeout of the request ends the conversation', async () => {
  const pending = post('/slow', 'hello')
  await eventually('the backend is asked', () => seen.length > 0)
  time.skip(500)
  expect((await pending).status).toBe(504)
  await eventually('the stream is over', () => talk().cancelled || talk().ended)
})

test('log, record and metrics tell of it', async () => {
  answer = at('requestHeaders', { immediateResponse: { status: { code: 429 }, details: 'too eager' } })
  await post('/streamed', 'hello')
  const records = await (await fetch(`${gateway.url(15_000)}/decisions?limit=1`)).text()
  expect(JSON.parse(records)).toMatchObject([
    {
      callouts: [
        { policy: 'extProc', backend: 'default/processor', verdict: 'answered', cached: false, detail: 'too eager' },
      ],
    },
  ])
  await eventually('it is counted', async () => {
    const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
    return metrics.includes('gatewright_call_duration_seconds_count{purpose="processing",backend="default/processor"')
  })
})
