import { once } from 'node:events'
import http2, { type ClientHttp2Session } from 'node:http2'
import tls from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { ask } from '#net/testing/http2-client.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  listenersYaml,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { verifies } from '#test/support/verifies.ts'

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let gateway: TestGateway
let plain: number
let secured: number
let echoPort: number

/** PEM as a block scalar. */
function block(text: string): string {
  return `|\n${text
    .trim()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')}`
}

const certificate = `
apiVersion: v1
kind: Secret
metadata: { name: door }
type: kubernetes.io/tls
stringData:
  tls.crt: ${block(CERTIFICATES.server.cert)}
  tls.key: ${block(CERTIFICATES.server.key)}
`

/** Bounds of HTTP/2 for the plain listener. */
const bounds = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: bounds }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: main }]
  frontend:
    http:
      http2WindowSize: 80Ki
      http2ConnectionWindowSize: 256Ki
      http2FrameSize: 32Ki
      http2MaxHeaderSize: 4Ki
      http2KeepaliveInterval: 1s
      http2KeepaliveTimeout: 1s
`

/** Plain clients keep their version; the server of these tests has HTTP/1.1 only. */
const backendVersion = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: backend-version }
spec:
  targetRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: echo }]
  backend: { http: { version: HTTP1 } }
`

const securedGateway = (port: number) =>
  listenersYaml('secured', [
    `{ name: https, protocol: HTTPS, port: ${port}, tls: { certificateRefs: [{ name: door }] } }`,
  ])

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  echoPort = echo.port
  plain = await freePort()
  secured = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(plain),
      securedGateway(secured),
      backendYaml('echo', echo.port),
      routeYaml('echo', '/', 'echo'),
      backendYaml('unasked', echo.port),
      routeYaml('unasked', '/unasked', 'unasked'),
      routeYaml('secured', '/', 'echo').replace('name: main', 'name: secured'),
      bounds,
      backendVersion,
      certificate,
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

async function connect(authority: string): Promise<ClientHttp2Session> {
  const client = http2.connect(authority, { ca: CERTIFICATES.ca, servername: 'server.test' })
  stops.defer(() => client.destroy())
  await Promise.all([once(client, 'connect'), once(client, 'remoteSettings')])
  return client
}

const connectPlain = () => connect(`http://127.0.0.1:${plain}`)
const connectSecured = () => connect(`https://127.0.0.1:${secured}`)

test.each([
  ['with prior knowledge', connectPlain],
  ['under TLS', connectSecured],
])('requests %s reach a backend of HTTP/1.1', async (_name, connect) => {
  const client = await connect()
  const crumbs = [':method', 'POST', ':path', '/p?q=1', ':authority', 'a.test', 'cookie', 'a=1', 'cookie', 'b=2']
  const answers = await Promise.all(['one', 'two', 'x'.repeat(300_000)].map((body) => ask(client, crumbs, body)))
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, whole: true })
  expect(JSON.parse(answers[0]!.body)).toMatchObject({
    method: 'POST',
    path: '/p?q=1',
    headers: { host: 'a.test', cookie: 'a=1; b=2' },
  })
})

test('a backend of HTTP/1.1 whose version is not configured gets HTTP/1.1, and stays healthy', async () => {
  const client = await connectPlain()
  for (let i = 0; i < 5; i++) {
    const answer = await ask(client, [':method', 'GET', ':path', '/unasked', ':authority', 'a.test'])
    expect(answer).toMatchObject({ status: 200 })
  }
  const body = 'x'.repeat(300_000)
  const answer = await ask(client, [':method', 'POST', ':path', '/unasked', ':authority', 'a.test'], body)
  expect(JSON.parse(answer.body)).toMatchObject({ body })
})

test('gRPC to a backend of HTTP/1.1: log and status name the setting, and the backend stays healthy', async () => {
  const call = [':method', 'POST', ':path', '/unasked', ':authority', 'a.test', 'content-type', 'application/grpc']
  const client = await connectPlain()
  await ask(client, call, 'x')
  const usual = await ask(client, [':method', 'GET', ':path', '/unasked', ':authority', 'a.test'])
  expect(usual).toMatchObject({ status: 200 })
  const line = await eventually('the line of the request', () =>
    gateway.output.stdout
      .split('\n')
      .find((text) => text.includes('http.path=/unasked') && text.includes('upstream.failure')),
  )
  const remedy = 'set backend.http.version to HTTP1, or appProtocol of the Service port to http'
  expect(line).toContain(`error="upstream answer invalid: not-http2 at 127.0.0.1:${echoPort} (${remedy})`)
  expect(line).toContain('upstream.failure=not-http2')
  const told = await eventually('the status of the backend', async () => {
    const { objects } = (await (await fetch(`${gateway.url(15_000)}/status`)).json()) as {
      objects: { origin: { kind: string; name: string }; status?: { conditions?: { type: string }[] } }[]
    }
    const backend = objects.find(({ origin }) => origin.kind === 'ProxyBackend' && origin.name === 'unasked')
    return backend?.status?.conditions?.find(({ type }) => type === 'Reachable')
  })
  expect(told).toMatchObject({
    status: 'False',
    reason: 'NotHTTP2',
    message: `requests are sent with HTTP/2, but the server at 127.0.0.1:${echoPort} does not support it: set policies.http.version to HTTP1`,
  })
  expect(gateway.output.stderr).toContain('backend-not-http2')
})

verifies('frontend.tls/alpnProtocols-default', 'h2 and http/1.1 are offered, in this order', async () => {
  const agreed = async (offered: string[]) => {
    const options = { port: secured, host: '127.0.0.1', servername: 'server.test', ca: CERTIFICATES.ca }
    const socket = tls.connect({ ...options, ALPNProtocols: offered })
    await once(socket, 'secureConnect')
    socket.destroy()
    return socket.alpnProtocol
  }
  expect(await agreed(['http/1.1', 'h2'])).toBe('h2')
  expect(await agreed(['http/1.1'])).toBe('http/1.1')
  expect(await agreed(['h2'])).toBe('h2')
})

verifies(
  ['frontend.http/http2WindowSize', 'frontend.http/http2ConnectionWindowSize', 'frontend.http/http2FrameSize'],
  'windows and frame size are those of the policy',
  async () => {
    const client = await connectPlain()
    expect(client.remoteSettings).toMatchObject({ initialWindowSize: 81_920, maxFrameSize: 32_768 })
    await ask(client, {})
    expect(client.state.remoteWindowSize).toBe(262_144)
    const unset = await connectSecured()
    expect(unset.remoteSettings).toMatchObject({ initialWindowSize: 65_535, maxFrameSize: 16_384 })
  },
)

verifies(
  ['frontend.http/http2MaxHeaderSize', 'frontend.http/http2MaxHeaderSize-default'],
  'headers that unpack to more are answered 431',
  async () => {
    const client = await connectPlain()
    expect((await ask(client, { x: 'a'.repeat(3800) })).status).toBe(200)
    expect((await ask(client, { x: 'a'.repeat(4100) })).status).toBe(431)
    expect((await ask(client, { x: 'a'.repeat(30_000) })).status).toBe(431)
    const unset = await connectSecured()
    expect((await ask(unset, { x: 'a'.repeat(15_900) })).status).toBe(200)
    expect((await ask(unset, { x: 'a'.repeat(16_400) })).status).toBe(431)
    expect((await ask(client, {})).status).toBe(200)
  },
)

test('pings ask for a sign of life', async () => {
  const client = await connectPlain()
  let pings = 0
  client.on('ping', () => pings++)
  await time.sooner('two pings', () => pings === 2)
  expect(client.destroyed).toBe(false)
})

test('a gRPC call that is refused ends with its status and without a body', async () => {
  const client = await connectPlain()
  const call = { ':method': 'POST', ':path': '/a/../b', 'content-type': 'application/grpc', te: 'trailers' }
  const answer = await ask(client, call, 'x')
  expect(answer).toMatchObject({ status: 200, body: '', whole: true })
  expect(answer.fields).toContain('grpc-status')
})

test('CONNECT is not served', async () => {
  const client = await connectPlain()
  expect((await ask(client, { ':method': 'CONNECT', ':authority': 'a:443' })).status).toBe(405)
})

test('the access log names the version', async () => {
  const client = await connectPlain()
  await ask(client, { ':path': '/logged' })
  await eventually('a line of the access log', () => {
    const line = gateway.output.stdout.split('\n').find((text) => text.includes('/logged'))
    return line?.includes('HTTP/2')
  })
})

test('a gateway that ends lets requests in flight finish', async () => {
  const port = await freePort()
  const objects = [gatewayYaml(port), backendYaml('echo', echoPort), routeYaml('echo', '/', 'echo'), backendVersion]
  const folder = await createObjectsFolder({ 'all.yaml': joinYaml(...objects) })
  const other = await startGateway({ files: [folder.path], workers: 1, drains: true })
  const client = await connect(`http://127.0.0.1:${port}`)
  const stream = client.request({ ':method': 'POST' })
  let status: unknown
  stream.on('response', (head) => {
    status = head[':status']
  })
  stream.write('begun')
  await eventually('the request is in flight', async () => {
    const metrics = await (await fetch(`${other.url(15_020)}/metrics`)).text()
    return metrics.includes('gatewright_requests_in_flight 1')
  })
  const closed = other.close()
  await once(client, 'goaway')
  stream.end(', done')
  let body = ''
  for await (const bytes of stream) body += bytes
  expect(status).toBe(200)
  expect(JSON.parse(body)).toMatchObject({ body: 'begun, done' })
  expect(await closed).toBe(0)
  await folder.remove()
})
