import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { RawClient, RawServer } from '#net/testing/raw-peers.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { ACCOUNT, accountYaml } from '#test/support/vendor-keys.ts'
import { verifies } from '#test/support/verifies.ts'
import { type ServerKeys, startVerifyingServer, type VerifyingServer } from '#test/support/verifying-server.ts'

/** Requests signed by `backend.auth.cloudOne`, at servers that verify every signature with the vendor's library. */

const KEYS: ServerKeys = {
  ...ACCOUNT,
  service: 'execute-api',
  region: 'eu-central-1',
}
const S3: ServerKeys = { ...KEYS, service: 's3' }
const BEDROCK: ServerKeys = { ...KEYS, service: 'bedrock', region: 'us-west-2' }

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
let api: VerifyingServer
let api2: VerifyingServer
let store: VerifyingServer
let model: VerifyingServer
/** Records the request of a stream, and begins its answer with the first event. */
let live: RawServer
let liveText = ''

const signed = (name: string, at: number, service: string, more = '') => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec:
  static: { host: 127.0.0.1, port: ${at} }
  policies: { auth: { cloudOne: { secretRef: { name: keys }, serviceName: ${service} } }${more} }
`
const bedrock = (at: number) => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: model }
spec:
  ai: { provider: { providerSeven: { region: us-west-2 }, host: 127.0.0.1, port: ${at} } }
  policies: { auth: { cloudOne: { secretRef: { name: keys } } }, ai: { routes: { "/converse": Passthrough, "*": Completions } } }
`
const edits = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: edited }
spec:
  parentRefs: [{ name: main }]
  rules:
    - matches: [{ path: { type: PathPrefix, value: /edited } }]
      filters:
        - { type: URLRewrite, urlRewrite: { hostname: api.example.com, path: { type: ReplacePrefixMatch, replacePrefixMatch: "/stage/v%201" } } }
        - { type: RequestHeaderModifier, requestHeaderModifier: { set: [{ name: x-amz-meta-a, value: "two  words" }], remove: [x-amz-meta-b] } }
      retry: { attempts: 2, codes: [503] }
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: edited }]
`
const retried = routeYaml('retried', '/retried', 'api', '      retry: { attempts: 2, codes: [503] }\n')
const mirrored = routeYaml(
  'mirrored',
  '/mirrored',
  'api',
  '      filters: [{ type: RequestMirror, requestMirror: { backendRef: { group: gatewright.dev, kind: ProxyBackend, name: api2 } } }]\n',
)
const transformation =
  ', transformation: { request: { set: [{ name: x-amz-meta-c, value: "request.method" }], body: \'"<" + string(request.body) + ">"\' } }'

beforeAll(async () => {
  api = stops.use(await startVerifyingServer(KEYS))
  api2 = stops.use(await startVerifyingServer(KEYS, { http2: true }))
  store = stops.use(await startVerifyingServer(S3))
  model = stops.use(await startVerifyingServer(BEDROCK))
  live = await new RawServer((peer) => {
    peer.socket.on('data', () => {
      if (liveText === '') peer.send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n')
      liveText = peer.text
    })
  }).start()
  stops.defer(() => live.close())
  port = await freePort()
  const objects = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      accountYaml,
      signed('api', api.port, 'execute-api'),
      signed('edited', api.port, 'execute-api', transformation),
      signed('api2', api2.port, 'execute-api', ', http: { version: HTTP2 }'),
      signed('store', store.port, 's3'),
      bedrock(model.port),
      edits,
      mirrored,
      retried,
      signed('live', live.port, 'execute-api'),
      routeYaml('live', '/live', 'live'),
      routeYaml('api', '/api', 'api'),
      routeYaml('api2', '/api2', 'api2'),
      routeYaml('store', '/store', 'store'),
      routeYaml('model', '/model', 'model'),
    ),
  })
  stops.defer(objects.remove)
  gateway = stops.use(
    await startGateway({ files: [objects.path], workers: 1, environment: { AWS_REGION: 'eu-central-1' } }),
  )
})
afterAll(() => stops.disposeAsync())
beforeEach(() => {
  for (const server of [api, api2, store, model]) {
    server.seen.length = 0
    server.next.length = 0
  }
})

const send = (path: string, init: RequestInit = {}) => fetch(`${gateway.url(port)}${path}`, init)
const faults = (server: VerifyingServer) => server.seen.map(({ fault }) => fault)

for (const version of ['HTTP/1.1', 'HTTP/2']) {
  verifies('backend.auth.cloudOne/signs', `a server accepts the signatures of requests over ${version}`, async () => {
    const [server, prefix] = version === 'HTTP/2' ? [api2, '/api2'] : [api, '/api']
    const headers = { authorization: 'Bearer client', 'x-amz-security-token': 'client', 'content-type': 'text/plain' }
    expect((await send(`${prefix}/a?b=2&a=1&c`, { headers })).status).toBe(200)
    expect(await (await send(prefix, { method: 'POST', body: 'hello', headers })).text()).toBe('hello')
    expect((await send(`${prefix}/a%20b/c%2Fd/~x:y@z?q=%C3%BC+x`, { method: 'DELETE' })).status).toBe(200)
    expect(faults(server)).toEqual([undefined, undefined, undefined])
  })
}

test('a chunked body is sent with a length and a signature', async () => {
  const body = new ReadableStream({
    start(controller) {
      for (const part of ['one ', 'two']) controller.enqueue(new TextEncoder().encode(part))
      controller.close()
    },
  })
  expect(await (await send('/api', { method: 'POST', body, duplex: 'half' } as RequestInit)).text()).toBe('one two')
  expect(api.seen).toMatchObject([{ fault: undefined, headers: { 'content-length': '7' } }])
})

test('a body above the buffer limit is refused, because its signature needs all of it', async () => {
  const response = await send('/api', { method: 'POST', body: 'x'.repeat(3 * 1024 * 1024) })
  expect([response.status, api.seen]).toEqual([413, []])
})

test('filters, transformations and the host change the request before it is signed, in every attempt', async () => {
  api.next.push(503)
  const headers = { 'x-amz-meta-b': 'client' }
  const response = await send('/edited/orders?x=1', { method: 'POST', body: 'body', headers })
  expect([response.status, await response.text()]).toEqual([200, '<body>'])
  expect(faults(api)).toEqual([undefined, undefined])
  expect(api.seen[1]).toMatchObject({
    target: '/stage/v%201/orders?x=1',
    headers: { host: 'api.example.com', 'x-amz-meta-a': 'two  words', 'x-amz-meta-c': 'POST', 'x-retry-attempt': '1' },
  })
  expect(api.seen[1]!.headers).not.toHaveProperty('x-amz-meta-b')
})

test('fields of a connection do not invalidate the signature', async () => {
  const client = await RawClient.connect(port)
  client.send(
    'POST /api HTTP/1.1\r\nhost: any\r\nconnection: keep-alive, x-hop\r\nx-hop: 1\r\nte: trailers\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\nok',
  )
  await client.until((text) => /\r\n\r\n(?:.|\r|\n)*ok/.test(text))
  client.close()
  expect(faults(api)).toEqual([undefined])
})

test('S3: a body of any length streams, unsigned', async () => {
  const body = 'x'.repeat(3 * 1024 * 1024)
  const response = await send('/store/a%20key', { method: 'PUT', body })
  expect([response.status, (await response.text()).length]).toEqual([200, body.length])
  expect(store.seen).toMatchObject([{ fault: undefined, headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } }])
})

verifies(
  'backend.auth.cloudOne/serviceName-of-backend',
  'the request of an LLM provider is signed for its service, in its region',
  async () => {
    const path = '/model/arn%3Aaws%3Abedrock/converse'
    const response = await send(path, {
      method: 'POST',
      body: '{"messages":[]}',
      headers: { 'content-type': 'application/json' },
    })
    expect([response.status, faults(model), model.seen[0]?.target]).toEqual([200, [undefined], path])
  },
)

test('a translated chat is signed with its final body, for the path with the encoded name of the model', async () => {
  const name = 'arn:aws:bedrock:us-west-2:123456789012:application-inference-profile/a%b'
  const body = JSON.stringify({ model: name, messages: [{ role: 'user', content: 'Zwölf?' }], max_tokens: 9 })
  await send('/model/chat', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  expect(faults(model)).toEqual([undefined])
  expect(model.seen[0]).toMatchObject({
    target: '/model/arn:aws:bedrock:us-west-2:123456789012:application-inference-profile%2Fa%25b/converse',
    body: '{"messages":[{"role":"user","content":[{"text":"Zwölf?"}]}],"inferenceConfig":{"maxTokens":9}}',
  })
})

const EVENT_HEADERS = encodeHeaders([
  { name: ':event-type', type: 'text', value: 'AudioEvent' },
  { name: ':message-type', type: 'text', value: 'event' },
])
const event = (payload: string) => encodeEvent(EVENT_HEADERS, Buffer.from(payload))
const EVENT_STREAM = 'application/vnd.amazon.eventstream'

/** Sends these pieces as a body without a length. @returns status and text of the answer */
async function sendEvents(path: string, ...pieces: Uint8Array[]): Promise<[status: number, text: string]> {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
  const init = { method: 'POST', body, duplex: 'half', headers: { 'content-type': EVENT_STREAM } }
  const response = await send(path, init as RequestInit)
  return [response.status, await response.text()]
}

for (const [version, prefix] of [
  ['HTTP/1.1', '/api'],
  ['HTTP/2', '/api2'],
] as const) {
  verifies('backend.auth.cloudOne/signs', `a server accepts the signature of each event over ${version}`, async () => {
    const events = Buffer.concat([event('one'), event('zwei'), event('x'.repeat(100_000))])
    const pieces = [events.subarray(0, 100), events.subarray(100, 200), events.subarray(200)]
    expect(await sendEvents(`${prefix}/stream`, ...pieces)).toEqual([200, events.toString()])
    const server = prefix === '/api' ? api : api2
    expect(server.seen).toMatchObject([
      { fault: undefined, headers: { 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-EVENTS' } },
    ])
    expect(server.seen[0]!.headers).not.toHaveProperty('content-length')
  })
}

test('an event stream may be larger than the buffer limit', async () => {
  const events = Array.from({ length: 30 }, () => event('x'.repeat(100_000)))
  const [status, text] = await sendEvents('/api', ...events)
  expect([status, text.length, faults(api)]).toEqual([200, Buffer.concat(events).length, [undefined]])
})

test('each attempt has its own signatures of the events', async () => {
  api.next.push(503)
  expect(await sendEvents('/retried', event('one'))).toEqual([200, Buffer.from(event('one')).toString()])
  expect(faults(api)).toEqual([undefined, undefined])
})

test('the copy of an event stream is signed for its own server', async () => {
  const events = [event('one'), event('two')]
  await sendEvents('/mirrored', ...events)
  const copied = await vi.waitUntil(() => api2.seen[0])
  expect([copied.fault, copied.body]).toEqual([undefined, Buffer.concat(events).toString()])
})

test('an event does not wait for the next one, and an answer that has begun is reset by a malformed event', async () => {
  const client = await RawClient.connect(port)
  const chunk = (bytes: Uint8Array) => `${bytes.length.toString(16)}\r\n${Buffer.from(bytes).toString('latin1')}\r\n`
  const head = `POST /live HTTP/1.1\r\nhost: a\r\ncontent-type: ${EVENT_STREAM}\r\ntransfer-encoding: chunked\r\n\r\n`
  client.send(`${head}${chunk(event('one'))}`)
  await client.until((text) => text.includes('2\r\nok'))
  client.send(chunk(event('two')))
  await vi.waitUntil(() => liveText.includes(Buffer.from(event('two')).toString('latin1')))
  expect(liveText.split(':chunk-signature')).toHaveLength(3)
  client.send(chunk(Buffer.from('this is no frame at all')))
  // Without the last chunk.
  expect(await client.untilEnd()).toMatch(/\r\n\r\n2\r\nok\r\n$/)
  client.close()
})

test('a body that is not an event stream is refused', async () => {
  const [status, text] = await sendEvents('/api', event('one'), Buffer.from('this is no frame at all'))
  expect([status, text]).toEqual([400, 'malformed request'])
  expect(await sendEvents('/api', event('one').subarray(0, 30))).toEqual([400, 'malformed request'])
  // The server has got no complete request.
  expect(api.seen).toEqual([])
})
