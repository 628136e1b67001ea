import { once } from 'node:events'
import http2, { type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { type GrpcBackend, GrpcCaller, startGrpcBackend } from '#test/support/grpc-peers.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let plain: number
let secured: number
let backend: GrpcBackend

const SERVICES = [
  'test.Echo',
  'test.Denied',
  'test.Limited',
  'test.Down',
  'test.Secured',
  'test.Regular',
  'test.OnlySay',
  'test.Gathered',
  'test.Replaced',
  'test.Rewritten',
  'test.Refused',
]

/**
 * A server of gRPC by hand: `Say` is answered 503 at first and then with the message it got, `Fail` by its status alone, `Count` breaks off,
 * `Wait` and `Talk` end without a status, with a message and at the head. @returns its port
 */
async function startFlaky(): Promise<number> {
  const server = http2.createServer()
  let calls = 0
  server.on('stream', (stream: ServerHttp2Stream, { ':path': path }) => {
    stream.on('error', () => {})
    if (path === '/test.Flaky/Fail') return stream.respond({ ':status': 200, 'grpc-status': '5' }, { endStream: true })
    if (path === '/test.Flaky/Count') {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      return void stream.write(Buffer.from('\0\0\0\0\u0001x'), () => stream.destroy(new Error('broken')))
    }
    if (path === '/test.Flaky/Wait') {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      // Ends the stream, then resets it.
      return void stream.write(Buffer.from('\0\0\0\0\u0001x'), () => stream.close(2))
    }
    if (path === '/test.Flaky/Talk') {
      return stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { endStream: true })
    }
    if (calls++ % 2 === 0) return stream.respond({ ':status': 503 }, { endStream: true })
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.pipe(stream)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A GRPCRoute of that name; `method` as in its match. */
function grpcRouteYaml(name: string, method: object, to: string): string {
  const backendRefs = [{ group: 'gatewright.dev', kind: 'ProxyBackend', name: to }]
  const spec = { parentRefs: [{ name: 'main' }], rules: [{ matches: [{ method }], backendRefs }] }
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: { name: ${name} }
spec: ${JSON.stringify(spec)}
`
}

const materials = `
apiVersion: v1
kind: Secret
metadata: { name: door }
type: kubernetes.io/tls
stringData: ${JSON.stringify({ 'tls.crt': CERTIFICATES.server.cert, 'tls.key': CERTIFICATES.server.key })}
---
apiVersion: v1
kind: ConfigMap
metadata: { name: trusted }
data: ${JSON.stringify({ 'ca.crt': CERTIFICATES.ca })}
`

beforeAll(async () => {
  backend = await startGrpcBackend(SERVICES)
  stops.defer(backend.close)
  const underTls = await startGrpcBackend(['test.Secured'], CERTIFICATES.server)
  stops.defer(underTls.close)
  const flaky = await startFlaky()
  plain = await freePort()
  secured = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(plain).replace(
        '    - { name: http',
        `    - { name: https, protocol: HTTPS, port: ${secured}, tls: { certificateRefs: [{ name: door }] } }\n    - { name: http`,
      ),
      backendYaml('calls', backend.port),
      backendYaml('secured', underTls.port),
      backendYaml('down', await freePort()),
      grpcRouteYaml('echo', { service: 'test.Echo' }, 'calls'),
      grpcRouteYaml('denied', { service: 'test.Denied' }, 'calls'),
      grpcRouteYaml('limited', { service: 'test.Limited' }, 'calls'),
      grpcRouteYaml('only-say', { service: 'test.OnlySay', method: 'Say' }, 'calls'),
      grpcRouteYaml('regular', { type: 'RegularExpression', service: 'test\\.Re.*', method: 'S.y' }, 'calls'),
      grpcRouteYaml('down', { service: 'test.Down' }, 'down'),
      backendYaml('flaky', flaky),
      grpcRouteYaml('flaky', { service: 'test.Flaky' }, 'flaky'),
      policyYaml('flaky', 'GRPCRoute', 'flaky', { traffic: { retry: { codes: [503] } } }),
      grpcRouteYaml('secured', { service: 'test.Secured' }, 'secured'),
      policyYaml('secured', 'ProxyBackend', 'secured', {
        backend: { tls: { caCertificateRefs: [{ name: 'trusted' }], verifySubjectAltNames: ['server.test'] } },
      }),
      policyYaml('denied', 'GRPCRoute', 'denied', {
        traffic: { authorization: { action: 'Deny', policy: { matchExpressions: ['true'] } } },
      }),
      policyYaml('limited', 'GRPCRoute', 'limited', {
        traffic: { rateLimit: { local: [{ requests: 1, unit: 'Hours' }] } },
      }),
      policyYaml('logged', 'Gateway', 'main', {
        frontend: { accessLog: { attributes: { add: [{ name: 'told', expression: 'response.grpcStatus' }] } } },
      }),
      grpcRouteYaml('gathered', { service: 'test.Gathered' }, 'calls'),
      policyYaml('gathered', 'GRPCRoute', 'gathered', {
        traffic: { transformation: { response: { set: [{ name: 'x-size', value: 'string(size(response.body))' }] } } },
      }),
      grpcRouteYaml('replaced', { service: 'test.Replaced' }, 'calls'),
      policyYaml('replaced', 'GRPCRoute', 'replaced', {
        traffic: { transformation: { response: { body: 'base64.decode("AAAAAAF4")' } } },
      }),
      grpcRouteYaml('rewritten', { service: 'test.Rewritten' }, 'calls'),
      policyYaml('rewritten', 'GRPCRoute', 'rewritten', {
        traffic: {
          transformation: {
            response: { body: 'size(response.body) > 0 ? response.body : base64.decode("AAAAAAF4")' },
          },
        },
      }),
      grpcRouteYaml('refused', { service: 'test.Refused' }, 'down'),
      policyYaml('refused', 'GRPCRoute', 'refused', {
        traffic: { transformation: { response: { body: 'base64.decode("AAAAAAF4")' } } },
      }),
      materials,
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(
    await startGateway({
      files: [folder.path],
      workers: 1,
      environment: { GATEWRIGHT_LOG_FORMAT: 'json' },
    }),
  )
})

afterAll(() => stops.disposeAsync())

function callerOf(service: string): GrpcCaller {
  const caller = new GrpcCaller(`127.0.0.1:${plain}`, service)
  stops.defer(() => caller.client.close())
  return caller
}

/** The access-log lines of a path. */
function lines(path: string): Record<string, unknown>[] {
  return gateway.output.stdout
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line['http.path'] === path)
}

test('one request, one response: message, metadata and trailers', async () => {
  const answer = await callerOf('test.Echo').ask('say', 'hello', { metadata: { 'x-from': 'here' } })
  expect(answer).toMatchObject({ message: 'said hello', code: status.OK })
  expect(answer.head?.get('x-head')).toEqual(['in the head'])
  expect(answer.trailers.get('x-tail')).toEqual(['in the trailers'])
  expect(backend.seen()?.get('x-from')).toEqual(['here'])
  const line = await eventually('its log line', () => lines('/test.Echo/Say')[0])
  expect(line).toMatchObject({
    'http.version': 'HTTP/2',
    'http.status': 200,
    'grpc.status': 0,
    told: 0,
    route: 'default/echo',
  })
})

test.each([
  ['read', 'test.Gathered', 'said hello'],
  ['replaced', 'test.Replaced', 'x'],
])('a response whose body a policy has %s keeps its trailers', async (_, service, message) => {
  const answer = await callerOf(service).ask('say', 'hello')
  expect(answer).toMatchObject({ message, code: status.OK })
  expect(answer.trailers.get('x-tail')).toEqual(['in the trailers'])
})

test.each([
  ['put in its place', 'test.Replaced', status.FAILED_PRECONDITION, 'not now: grün', 9],
  ['read and put in its place', 'test.Rewritten', status.FAILED_PRECONDITION, 'not now: grün', 9],
])('a status-only response keeps its status after a body that is %s', async (_, service, code, details, told) => {
  const answer = await callerOf(service).ask('fail', 'x')
  expect(answer).toMatchObject({ code, details, message: undefined })
  // There was something in front of it.
  expect(answer.head).toBeDefined()
  expect(answer.head?.get('grpc-status')).toEqual([])
  const line = await eventually('its log line', () => lines(`/${service}/Fail`)[0])
  expect(line).toMatchObject({ 'grpc.status': told, told })
})

test('a refusal is its status alone, although a policy writes the bodies of responses', async () => {
  const answer = await callerOf('test.Refused').ask('fail', 'x')
  expect(answer).toMatchObject({ code: status.UNAVAILABLE, details: 'upstream call failed', message: undefined })
  const line = await eventually('its log line', () => lines('/test.Refused/Fail')[0])
  expect(line).toMatchObject({ 'grpc.status': 14, told: 14 })
})

test('a large message, there and back', async () => {
  const message = 'x'.repeat(3_000_000)
  expect((await callerOf('test.Echo').ask('say', message)).message).toBe(`said ${message}`)
})

test('a failure of the server keeps its status, text and metadata', async () => {
  const answer = await callerOf('test.Echo').ask('fail', 'x')
  expect(answer).toMatchObject({ code: status.FAILED_PRECONDITION, details: 'not now: grün' })
  expect(answer.trailers.get('x-why')).toEqual(['because'])
  const line = await eventually('its log line', () => lines('/test.Echo/Fail')[0])
  expect(line).toMatchObject({ 'grpc.status': 9, told: 9 })
})

test('a stream of the server', async () => {
  const words: string[] = []
  const call = callerOf('test.Echo').count(500)
  call.on('data', (word: string) => words.push(word))
  const [{ code }] = await once(call, 'status')
  expect(code).toBe(status.OK)
  expect(words).toEqual(Array.from({ length: 500 }, (_, i) => `${i + 1}`))
})

test('a stream of the client', async () => {
  const joined = await new Promise<string | undefined>((resolve, reject) => {
    const call = callerOf('test.Echo').join((error, answer) => (error === null ? resolve(answer) : reject(error)))
    for (let i = 0; i < 300; i++) call.write(`${i},`)
    call.end()
  })
  expect(joined).toBe(Array.from({ length: 300 }, (_, i) => `${i},`).join(''))
})

test('both streams at once, each word answered before the next is said', async () => {
  const call = callerOf('test.Echo').talk()
  for (const word of ['one', 'two', 'three']) {
    call.write(word)
    expect(await once(call, 'data')).toEqual([word.toUpperCase()])
  }
  call.end()
  const [{ code }] = await once(call, 'status')
  expect(code).toBe(status.OK)
})

test('a deadline reaches the server as it was set, and a call that is given up ends there too', async () => {
  const caller = callerOf('test.Echo')
  const before = backend.cancelled()
  expect((await caller.ask('say', 'x', { deadlineMs: 30_000 })).code).toBe(status.OK)
  expect(backend.seen()?.get('grpc-timeout')).toEqual([])
  expect((await caller.ask('wait', 'x', { deadlineMs: 200 })).code).toBe(status.DEADLINE_EXCEEDED)
  await eventually('the deadline ends the call', () => backend.cancelled() > before)
  const { call, answered } = caller.start('wait', 'x')
  setTimeout(() => call.cancel(), 100)
  expect((await answered).code).toBe(status.CANCELLED)
  await eventually('the cancelled call ends', () => backend.cancelled() > before + 1)
  const talk = caller.talk()
  talk.on('error', () => {})
  talk.write('x')
  await once(talk, 'data')
  talk.cancel()
  await eventually('the cancelled streams end', () => backend.cancelled() > before + 2)
})

test('calls at the same time share connections', async () => {
  const caller = callerOf('test.Echo')
  const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => caller.ask('say', `${i}`)))
  expect(answers.map(({ message }) => message)).toEqual(answers.map((_, i) => `said ${i}`))
})

const refused: [what: string, service: string, name: 'say' | 'fail', code: status, details: string][] = [
  ['a method that the server does not have', 'test.Unknown', 'say', status.UNIMPLEMENTED, 'route not found'],
  ['a method that no route names', 'test.OnlySay', 'fail', status.UNIMPLEMENTED, 'route not found'],
  ['a caller without permission', 'test.Denied', 'say', status.PERMISSION_DENIED, 'authorization failed'],
  ['a backend that is down', 'test.Down', 'say', status.UNAVAILABLE, 'upstream call failed'],
]
test.each(refused)('%s', async (_, service, name, code, details) => {
  const answer = await callerOf(service).ask(name, 'x')
  expect(answer).toMatchObject({ code, details, message: undefined })
  expect(answer.trailers.get('gatewright-decision')).toHaveLength(1)
})

test('an exhausted limit, and its headers', async () => {
  const caller = callerOf('test.Limited')
  expect((await caller.ask('say', 'x')).code).toBe(status.OK)
  const answer = await caller.ask('say', 'x')
  expect(answer).toMatchObject({
    code: status.UNAVAILABLE,
    details: expect.stringMatching(/^rate limit exceeded: 1 request per hour; wait until .*Z$/),
  })
  expect(answer.trailers.get('x-ratelimit-remaining')).toEqual(['0'])
  const line = await eventually('its log line', () => lines('/test.Limited/Say')[1])
  expect(line).toMatchObject({ 'http.status': 200, 'grpc.status': 14, code: 'rate-limited' })
})

test('a retry sends the message again, though its length was not announced', async () => {
  expect(await callerOf('test.Flaky').ask('say', 'again')).toMatchObject({ message: 'again', code: status.OK })
  const line = await eventually('its log line', () => lines('/test.Flaky/Say')[0])
  expect(line).toMatchObject({ 'grpc.status': 0, 'retry.attempt': 1 })
})

test('a call that is answered by its status alone', async () => {
  expect(await callerOf('test.Flaky').ask('fail', 'x')).toMatchObject({ code: status.NOT_FOUND, message: undefined })
  const line = await eventually('its log line', () => lines('/test.Flaky/Fail')[0])
  expect(line).toMatchObject({ 'grpc.status': 5, told: 5 })
})

test('a call whose server breaks off does not look whole', async () => {
  const call = callerOf('test.Flaky').count(2)
  const words: string[] = []
  call.on('data', (word: string) => words.push(word))
  call.on('error', () => {})
  const code = await new Promise((resolve) => call.on('status', (told) => resolve(told.code)))
  expect([words, code]).toEqual([['x'], status.INTERNAL])
})

test('a call whose server ends it without a status is broken', async () => {
  const answer = await callerOf('test.Flaky').ask('wait', 'x')
  expect(answer).toMatchObject({ code: status.INTERNAL })
  const line = await eventually('its log line', () => lines('/test.Flaky/Wait')[0])
  expect(line).toMatchObject({ reason: 'UpstreamFailure', error: 'response of the backend ended: protocol-error' })
})

test('a call that is answered with a head and no status fails', async () => {
  const call = callerOf('test.Flaky').talk()
  call.on('error', () => {})
  call.end()
  const { code, details } = await new Promise<{ code: number; details: string }>((resolve) =>
    call.on('status', resolve),
  )
  expect([code, details]).toEqual([status.UNAVAILABLE, 'upstream answer invalid'])
})

test('routes by exact method and by expression', async () => {
  expect(await callerOf('test.OnlySay').ask('say', 'x')).toMatchObject({ message: 'said x' })
  expect(await callerOf('test.Regular').ask('say', 'x')).toMatchObject({ message: 'said x' })
  expect((await callerOf('test.Regular').ask('fail', 'x')).code).toBe(status.UNIMPLEMENTED)
})

test('under TLS at both ends', async () => {
  const caller = new GrpcCaller(`127.0.0.1:${secured}`, 'test.Secured', CERTIFICATES.ca)
  stops.defer(() => caller.client.close())
  expect(await caller.ask('say', 'x')).toMatchObject({ message: 'said x', code: status.OK })
  const mixed = new GrpcCaller(`127.0.0.1:${secured}`, 'test.Echo', CERTIFICATES.ca)
  stops.defer(() => mixed.client.close())
  expect(await mixed.ask('say', 'x')).toMatchObject({ message: 'said x', code: status.OK })
})
