import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createRawServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Echo, startEcho } from '#examples/upstreams/echo.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { type GrpcBackend, GrpcCaller, startGrpcBackend } from '#test/support/grpc-peers.ts'
import { backendYaml, createObjectsFolder, joinYaml, listenersYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/** Copies of requests in a running gateway (decision A-52). */

interface Copy {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let gateway: TestGateway
let port: number
let rpcPort: number
let primary: GrpcBackend
let shadow: GrpcBackend
const copies: Copy[] = []

const COUNT = 'gatewright_call_duration_seconds_count{purpose="mirror"'

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A server that accepts connections and reads nothing. */
async function startDeaf(): Promise<number> {
  const server = createRawServer((socket) => {
    socket.pause()
    socket.on('error', () => {})
    stops.defer(() => {
      socket.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const refOf = (name: string) => ({ group: 'gatewright.dev', kind: 'ProxyBackend', name })
const mirrorTo = (name: string, more: object = {}) => ({
  type: 'RequestMirror',
  requestMirror: { backendRef: refOf(name), ...more },
})

function mirroredYaml(name: string, filters: readonly object[]): string {
  const matches = [{ path: { type: 'PathPrefix', value: `/${name}` } }]
  const rules = [{ matches, filters, backendRefs: [refOf('echo')] }]
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec: ${JSON.stringify({ parentRefs: [{ name: 'main', sectionName: 'http' }], rules })}
`
}

function grpcYaml(): string {
  const rules = [{ filters: [mirrorTo('grpc-shadow')], backendRefs: [refOf('grpc')] }]
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: { name: grpc }
spec: ${JSON.stringify({ parentRefs: [{ name: 'main', sectionName: 'rpc' }], rules })}
`
}

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  // Its responses must not matter.
  const recorder = await serve(async (request, response) => {
    const { method, url, headers } = request
    const body = await buffer(request)
    copies.push({ method: method!, url: url!, headers, body: body.toString() })
    response.writeHead(500, { 'x-shadow': 'yes', 'set-cookie': 'shadow=1' }).end('x'.repeat(300_000))
  })
  primary = await startGrpcBackend(['test.Echo'])
  shadow = await startGrpcBackend(['test.Echo'])
  stops.defer(() => {
    primary.close()
    shadow.close()
  })
  port = await freePort()
  rpcPort = await freePort()
  const rewrite = {
    type: 'URLRewrite',
    urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/new' } },
  }
  const added = { type: 'RequestHeaderModifier', requestHeaderModifier: { add: [{ name: 'x-added', value: 'a' }] } }
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      listenersYaml('main', [
        `{ name: http, protocol: HTTP, port: ${port} }`,
        `{ name: rpc, protocol: HTTP, port: ${rpcPort} }`,
      ]),
      backendYaml('echo', echo.port),
      backendYaml('recorder', recorder),
      backendYaml('refusing', await freePort()),
      backendYaml('deaf', await startDeaf()),
      backendYaml('grpc', primary.port),
      backendYaml('grpc-shadow', shadow.port),
      policyYaml('key', 'ProxyBackend', 'echo', { backend: { auth: { key: 'of-echo' } } }),
      mirroredYaml('plain', [mirrorTo('recorder'), rewrite, added]),
      mirroredYaml('twice', [mirrorTo('recorder'), mirrorTo('recorder', { percent: 100 })]),
      mirroredYaml('never', [mirrorTo('recorder', { percent: 0 })]),
      mirroredYaml('half', [mirrorTo('recorder', { fraction: { numerator: 1, denominator: 2 } })]),
      mirroredYaml('refusing', [mirrorTo('refusing')]),
      mirroredYaml('deaf', [mirrorTo('deaf')]),
      mirroredYaml('guarded', [mirrorTo('guarded')]),
      `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: guarded }
spec: ${JSON.stringify({
        ai: { provider: { providerOne: {}, host: '127.0.0.1', port: recorder } },
        policies: { ai: { promptGuard: { request: [{ regex: { builtins: ['Email'] } }] } } },
      })}
`,
      mirroredYaml('limited', [mirrorTo('recorder')]),
      policyYaml('limited', 'HTTPRoute', 'limited', {
        traffic: { authorization: { policy: { matchExpressions: ['request.headers["x-ok"] == "yes"'] } } },
      }),
      mirroredYaml('changed', [mirrorTo('recorder')]),
      policyYaml('changed', 'HTTPRoute', 'changed', {
        traffic: { transformation: { request: { body: '"<" + string(request.body) + ">"' } } },
      }),
      grpcYaml(),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1, drains: true }))
})

beforeEach(() => {
  copies.length = 0
})

afterAll(() => stops.disposeAsync())

const ask = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init)

async function echoOf(path: string, init: RequestInit = {}): Promise<Echo> {
  const response = await ask(path, init)
  expect([response.status, response.headers.get('x-shadow'), response.headers.get('set-cookie')]).toEqual([
    200,
    null,
    null,
  ])
  return (await response.json()) as Echo
}

async function copied(count: number): Promise<readonly Copy[]> {
  await eventually(`${count} copies`, () => copies.length >= count)
  return copies
}

/** The number of mirror calls with this outcome. */
async function counted(backend: string, outcome: string): Promise<number> {
  const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  const line = text
    .split('\n')
    .find((line) => line.startsWith(`${COUNT},backend="default/${backend}",outcome="${outcome}"`))
  return Number(line?.split(' ').at(-1) ?? 0)
}

test('a copy has the request after its filters, and no credential for another backend; its response is ignored', async () => {
  const seen = await echoOf('/plain/a?b=c', { method: 'POST', body: 'hello', headers: { 'x-mine': 'm' } })
  const [copy] = await copied(1)
  expect([seen.method, seen.path, seen.body]).toEqual(['POST', '/new/a?b=c', 'hello'])
  expect([copy!.method, copy!.url, copy!.body]).toEqual(['POST', '/new/a?b=c', 'hello'])
  expect(copy!.headers).toMatchObject({ 'x-mine': 'm', 'x-added': 'a', host: seen.headers.host, 'content-length': '5' })
  expect([seen.headers.authorization, copy!.headers.authorization]).toEqual(['Bearer of-echo', undefined])
  expect(copies).toHaveLength(1)
  await eventually('it is counted', async () => (await counted('recorder', '5xx')) === 1)
})

test('a request without a body, and one whose length is not announced', async () => {
  await echoOf('/plain')
  const pieces = ['one', 'two', 'three']
  const body = new ReadableStream({
    pull(controller) {
      const piece = pieces.shift()
      if (piece === undefined) controller.close()
      else controller.enqueue(Buffer.from(piece))
    },
  })
  await echoOf('/plain', { method: 'POST', body, duplex: 'half' } as RequestInit)
  const [first, second] = await copied(2)
  expect([first!.method, first!.body, first!.headers['content-length']]).toEqual(['GET', '', undefined])
  expect([second!.body, second!.headers['transfer-encoding']]).toEqual(['onetwothree', 'chunked'])
})

test('two filters send two copies; 0 percent none; a fraction some', async () => {
  await echoOf('/twice')
  await copied(2)
  copies.length = 0
  for (let i = 0; i < 20; i++) await echoOf('/never')
  for (let i = 0; i < 60; i++) await echoOf('/half')
  await copied(1)
  expect(copies.every(({ url }) => url === '/half')).toBe(true)
  expect(copies.length).toBeLessThan(60)
})

test('refused requests are not copied, and policies that replace the body come first', async () => {
  expect((await ask('/limited')).status).toBe(403)
  await echoOf('/limited', { headers: { 'x-ok': 'yes' } })
  await echoOf('/changed', { method: 'POST', body: 'b' })
  await copied(2)
  expect(copies.map(({ url, body }) => [url, body])).toEqual([
    ['/limited', ''],
    ['/changed', '<b>'],
  ])
})

test('a backend that refuses connections: the request succeeds, and the failure is counted', async () => {
  await echoOf('/refusing', { method: 'POST', body: 'hello' })
  await eventually('it is counted', async () => (await counted('refusing', 'connection-refused')) === 1)
})

test('a backend with prompt guards gets no copy, because they would not check it', async () => {
  await echoOf('/guarded', { method: 'POST', body: 'jane@example.org' })
  await eventually('it is counted', async () => (await counted('guarded', 'no-endpoint')) === 1)
  expect(copies).toEqual([])
})

test('a backend that reads nothing does not slow the request: its copy is given up', async () => {
  const body = 'x'.repeat(20_000_000)
  const seen = await echoOf('/deaf', { method: 'POST', body })
  expect(seen.body).toHaveLength(body.length)
  await eventually('it is counted', async () => (await counted('deaf', 'cancelled')) === 1)
})

test('gRPC calls are copied over HTTP/2', async () => {
  const caller = new GrpcCaller(`127.0.0.1:${rpcPort}`, 'test.Echo')
  stops.defer(() => caller.client.close())
  expect(await caller.ask('say', 'hello')).toMatchObject({ message: expect.stringContaining('hello') })
  await eventually('the copy', () => shadow.seen() !== undefined)
})

// Last, because it stops the gateway. The test would time out: a copy has 60 seconds, as has the shutdown.
test('a shutdown does not wait for the response to a copy', async () => {
  await echoOf('/deaf')
  expect(await time.hurry(gateway.close())).toBe(0)
})
