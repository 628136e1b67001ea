import { readFileSync } from 'node:fs'
import http2, { type ServerHttp2Stream } from 'node:http2'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { compileExpression } from '#exchange/compile-expression.ts'
import { answering, RawClient, RawServer } from '#net/testing/raw-peers.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { gatewright } from '#test/support/command-line.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, joinYaml, type ObjectsFolder } from '#test/support/objects-folder.ts'

/** The annotation and the policy of docs/guides/forwarded-headers.md, over real connections. */

const ROOT = join(import.meta.dirname, '..', '..')
const UUID = /^[0-9a-f-]{36}$/
const guide = readFileSync(join(ROOT, 'docs', 'guides', 'forwarded-headers.md'), 'utf8')
const [, policy = ''] = /```yaml\n(apiVersion: gatewright\.dev.*?)```/s.exec(guide) ?? []

const stops = new AsyncDisposableStack()
const ports = { trusting: 0, alone: 0, main: 0 }
let gateway: TestGateway
let folder: ObjectsFolder

const gatewayOf = (name: keyof typeof ports, annotations: string) => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name}, annotations: { ${annotations} } }
spec: { gatewayClassName: gatewright, listeners: [{ name: http, protocol: HTTP, port: ${ports[name]} }] }
`

const route = (name: string, path: string) => `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec:
  parentRefs: [{ name: trusting }, { name: alone }, { name: main }]
  rules:
    - matches: [{ path: { value: ${path} } }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: ${name} }]
`

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const raw = await new RawServer(
    answering((head) => `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n${head}`),
  ).start()
  stops.defer(() => raw.close())
  const rpc = http2.createServer()
  rpc.on('stream', (stream: ServerHttp2Stream, head) => {
    let trailers = {}
    stream.on('trailers', (fields) => {
      trailers = { ...fields }
    })
    void text(stream).then(() => {
      stream.respond({ ':status': 200 })
      stream.end(JSON.stringify({ head, trailers }))
    })
  })
  await new Promise<void>((resolve) => rpc.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void rpc.close())
  for (const name of ['trusting', 'alone', 'main'] as const) ports[name] = await freePort()
  folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayOf('trusting', 'gatewright.dev/forwarded-headers: "127.0.0.0/8"'),
      gatewayOf('alone', 'gatewright.dev/forwarded-headers: none'),
      gatewayOf('main', ''),
      `\n${policy}`,
      backendYaml('echo', echo.port),
      backendYaml('raw', raw.port),
      backendYaml('rpc', (rpc.address() as { port: number }).port),
      route('echo', '/'),
      route('raw', '/raw'),
      route('rpc', '/rpc'),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})
afterAll(() => stops.disposeAsync())

const CLAIMS = {
  'x-forwarded-for': '1.1.1.1',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'shop.test',
  'x-request-id': 'abc-1',
  'x-real-ip': '1.1.1.1',
}

async function received(name: keyof typeof ports): Promise<Record<string, string>> {
  const response = await fetch(gateway.url(ports[name]), { headers: CLAIMS })
  return ((await response.json()) as { headers: Record<string, string> }).headers
}

test('statements of a trusted proxy reach the backend with its address', async () => {
  expect(await received('trusting')).toMatchObject({ ...CLAIMS, 'x-forwarded-for': '1.1.1.1, 127.0.0.1' })
})

test.each(['alone', 'main'] as const)('Gateway %s replaces statements of anyone else', async (name) => {
  const headers = await received(name)
  expect(headers).toMatchObject({
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': `127.0.0.1:${ports[name]}`,
  })
  expect(headers['x-request-id']).toMatch(UUID)
  expect(headers).not.toHaveProperty('x-real-ip')
})

test('the expression of the guide for trusted proxies adds to their list', () => {
  const [, source = ''] = />-\n(.*?)```/s.exec(guide) ?? []
  const problems: unknown[] = []
  const expression = compileExpression(source.replace(/\s+/g, ' ').trim(), 'request', (problem) =>
    problems.push(problem),
  )
  expect(problems).toEqual([])
  const from = (remoteAddress: string) => {
    const exchange = exchangeWith({ headers: { 'x-forwarded-for': '1.1.1.1' } })
    Object.assign(exchange.peer, { remoteAddress })
    return expression.json(exchange)
  }
  expect([from('10.0.0.1'), from('11.0.0.1')]).toEqual(['1.1.1.1, 10.0.0.1', '11.0.0.1'])
})

test('an upgraded connection, too', async () => {
  const client = await RawClient.connect(ports.alone)
  const fields = 'connection: upgrade\r\nupgrade: echo\r\nX_Forwarded_For: 6.6.6.6\r\nx-forwarded-for: 6.6.6.6\r\n'
  client.send(`GET /raw HTTP/1.1\r\nhost: a.test\r\n${fields}\r\n`)
  const answer = await client.until((received) => /x-request-id: [0-9a-f-]{36}\r\n/i.test(received))
  client.close()
  expect(answer).toMatch(/x-forwarded-for: 127\.0\.0\.1\r\n/i)
  expect(answer).toMatch(/x-forwarded-host: a\.test\r\n/i)
  expect(answer).not.toContain('6.6.6.6')
})

test('a gRPC call, too, and its trailers cannot add one', async () => {
  const session = http2.connect(gateway.url(ports.alone))
  const stream = session.request(
    { ':method': 'POST', ':path': '/rpc', 'content-type': 'application/grpc', te: 'trailers', 'x-request-id': 'abc-1' },
    { waitForTrailers: true },
  )
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-request-id': 'late', 'x-kept': 'late' }))
  stream.end('message')
  const { head, trailers } = JSON.parse(await text(stream)) as Record<'head' | 'trailers', Record<string, string>>
  session.close()
  expect(head['x-forwarded-for']).toBe('127.0.0.1')
  expect(head['x-request-id']).toMatch(UUID)
  expect(trailers).toEqual({ 'x-kept': 'late' })
})

test('explain shows the decision', async () => {
  const { stdout } = await gatewright(['explain', '-f', folder.path, `http://localhost:${ports.alone}/`])
  expect(stdout).toMatch(/forwarded headers +proceed: \S+ is not a trusted proxy; its fields are replaced\n/)
  expect(stdout).toContain(`x-forwarded-host: localhost:${ports.alone}\n`)
})

test('only lint -v names each Gateway without the annotation', async () => {
  const advice = /^.*forwarded-headers-unset.*$/gm
  const verbose = await gatewright(['lint', '-v', folder.path])
  expect(verbose.stdout.match(advice)).toEqual([
    expect.stringContaining('Gateway default/main: X-Forwarded-For, -Proto'),
  ])
  expect((await gatewright(['lint', folder.path])).stdout.match(advice)).toBeNull()
})
