import { once } from 'node:events'
import http2, { type ClientHttp2Session } from 'node:http2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FrameServer } from '#net/testing/frame-server.ts'
import { ask } from '#net/testing/http2-client.ts'
import { answering, RawClient, RawServer } from '#net/testing/raw-peers.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  routeYaml,
  serviceYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number
/** Connections of the HTTP/2 backend. */
let connections = 0

/** Field lines of a response by what its path asks for. */
function fieldsFor(path: string): string {
  if (path.includes('one')) return `x-one: ${'v'.repeat(70_000)}\r\n`
  if (path.includes('many')) return Array.from({ length: 900 }, (_, i) => `x-${i}: ${'v'.repeat(60)}\r\n`).join('')
  return ''
}

const MAX_HEADER_LIST_SIZE = 6

beforeAll(async () => {
  const waiting: (() => void)[] = []
  const backend = await new RawServer(
    answering((head, _, peer) => {
      const path = head.split(' ')[1]!
      const text = `HTTP/1.1 200 OK\r\n${fieldsFor(path)}content-length: 2\r\n\r\nok`
      if (!path.includes('wait')) {
        for (const go of waiting.splice(0)) setTimeout(go, 50)
        return text
      }
      waiting.push(() => peer.send(text))
      return ''
    }),
  ).start()
  stops.defer(() => backend.close())
  const frames = await new FrameServer((peer) => {
    connections++
    peer.settings([MAX_HEADER_LIST_SIZE, 4096])
    peer.onRequest = (stream) => peer.answer(stream, 'ok')
  }).start()
  stops.defer(() => frames.close())
  const roomy = await new FrameServer((peer) => {
    peer.settings()
    peer.onRequest = (stream) => peer.answer(stream, 'roomy')
  }).start()
  stops.defer(() => roomy.close())
  port = await freePort()
  const echoed = { name: 'x-echoed', value: 'request.headers["x-big"]' }
  const add = Array.from({ length: 9 }, (_, i) => ({ ...echoed, name: `x-echoed-${i}` }))
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('backend', backend.port),
      backendYaml('made', backend.port),
      backendYaml('frames', frames.destination.port),
      routeYaml('backend', '/', 'backend'),
      routeYaml('made', '/made', 'made'),
      routeYaml('frames', '/frames', 'frames'),
      policyYaml('http1', 'ProxyBackend', 'backend', { backend: { http: { version: 'HTTP1' } } }),
      policyYaml('http1-made', 'ProxyBackend', 'made', { backend: { http: { version: 'HTTP1' } } }),
      policyYaml('http2', 'ProxyBackend', 'frames', { backend: { http: { version: 'HTTP2' } } }),
      serviceYaml('two', [frames.destination.port, roomy.destination.port]),
      policyYaml('two', 'Service', 'two', {
        backend: { http: { version: 'HTTP2' }, health: { eviction: { duration: '60s' } } },
      }),
      policyYaml('made', 'HTTPRoute', 'made', { traffic: { transformation: { response: { add } } } }),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

async function connect(): Promise<{ client: ClientHttp2Session; goaways: () => number }> {
  const client = http2.connect(`http://127.0.0.1:${port}`)
  stops.defer(() => client.destroy())
  let goaways = 0
  client.on('goaway', () => goaways++)
  await once(client, 'connect')
  return { client, goaways: () => goaways }
}

/** The access log line of a refusal. */
function lineOf(decision: string): Promise<string> {
  return eventually('a log line', () => gateway.output.stdout.split('\n').find((line) => line.includes(decision)))
}

test.each([
  ['one field', '/one', {}],
  ['many fields', '/many', {}],
  ['fields that a policy makes, also of the refusal', '/made', { 'x-big': 'v'.repeat(8000) }],
])('a response head with %s that is too large for HTTP/2 is 502 for its stream alone', async (_, path, headers) => {
  const { client, goaways } = await connect()
  const beside = ask(client, { ':path': '/wait' })
  const answer = await ask(client, { ':path': path, ...headers })
  expect(answer).toMatchObject({ status: 502, body: 'response header fields too large', resetCode: 0 })
  const decision = answer.fields[answer.fields.indexOf('gatewright-decision') + 1]!
  const line = await lineOf(decision)
  expect(line).toContain('status=502')
  expect(line).toContain('code=response-headers-too-large')
  await ask(client, { ':path': '/' })
  expect(await beside).toMatchObject({ status: 200, body: 'ok' })
  expect(goaways()).toBe(0)
})

test('HTTP/1 has no such bound', async () => {
  for (const [path, field] of [
    ['/one', 'x-one'],
    ['/many', 'x-899'],
    ['/made', 'x-echoed-8'],
  ] as const) {
    const client = await RawClient.connect(port)
    client.send(`GET ${path} HTTP/1.1\r\nHost: h\r\nX-Big: ${'v'.repeat(8000)}\r\nConnection: close\r\n\r\n`)
    const text = await client.untilEnd()
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
    expect(text).toContain(`\r\n${field}: v`)
  }
})

test('a request head that is too large for an HTTP/2 backend is 431, alone', async () => {
  const plain = { headers: { 'x-big': 'v' } }
  const url = `http://127.0.0.1:${port}/frames`
  expect((await fetch(url, plain)).status).toBe(200)
  const refused = await fetch(url, { headers: { 'x-big': 'v'.repeat(5000) } })
  expect([refused.status, await refused.text()]).toEqual([431, 'request header fields too large'])
  const line = await lineOf(refused.headers.get('gatewright-decision')!)
  expect(line).toContain('code=headers-too-large')
  expect(line).toContain('request-headers-too-large at 127.0.0.1')
  expect(line).toContain('the limit is 4096')
  expect((await fetch(url, plain)).status).toBe(200)
  expect(connections).toBe(1)
})

test('a request head above the limits of the gateway is 431; the log names the fields that set them', async () => {
  const client = await RawClient.connect(port)
  client.send(`GET /large-head HTTP/1.1\r\nHost: h\r\nX-Big: ${'v'.repeat(70_000)}\r\n\r\n`)
  const text = await client.untilEnd()
  expect(text).toMatch(/^HTTP\/1\.1 431 /)
  expect(text.split('\r\n\r\n')[1]).toBe('request header fields too large')
  const line = await lineOf('frontend.http.http1MaxHeaders limits the number of fields')
  expect(line).toContain('code=headers-too-large')
  expect(line).toContain('http2MaxHeaderSize their size over HTTP/2; over HTTP/1.1 it is 64 KiB')
})

test('such a request does not affect the endpoint, which stays in service', async () => {
  const statuses: number[] = []
  for (let i = 0; i < 40; i++) {
    const response = await fetch(`http://127.0.0.1:${port}/two`, { headers: { 'x-big': 'v'.repeat(5000) } })
    await response.text()
    statuses.push(response.status)
  }
  expect(new Set(statuses)).toEqual(new Set([200, 431]))
  expect(statuses.filter((status) => status === 431).length).toBeGreaterThan(3)
})
