import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { arrival, type Collector, type Received, startCollector } from '#test/support/collector.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendRef, backendYaml, createObjectsFolder, joinYaml, listenersYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { verifies } from '#test/support/verifies.ts'

/** Access logs that a running gateway exports over OTLP. */

const stops = new AsyncDisposableStack()
const arrives = arrival(stops.use(new PassingTime()))
let gateway: TestGateway
let collector: Collector
let echo: Awaited<ReturnType<typeof startEcho>>
let settings: string
const ports = new Map<string, number>()

/** A Gateway of that name, whose access log has these settings, and a route to the echo server. */
async function loggedYaml(name: string, accessLog: object): Promise<string> {
  const port = await freePort()
  ports.set(name, port)
  const rules = [{ backendRefs: [backendRef('echo')] }]
  return joinYaml(
    listenersYaml(name, [`{ name: http, protocol: HTTP, port: ${port} }`]),
    `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec: ${JSON.stringify({ parentRefs: [{ name }], rules })}
`,
    policyYaml(`log-${name}`, 'Gateway', name, { frontend: { accessLog } }),
  )
}

/** A Service of that name with one endpoint at a loopback port. */
function endpointYaml(name: string, port: number): string {
  return joinYaml(
    `
apiVersion: v1
kind: Service
metadata: { name: ${name} }
spec: { ports: [{ port: 80 }] }
`,
    `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-1, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
endpoints: [{ addresses: [127.0.0.1] }]
ports: [{ port: ${port} }]
`,
  )
}

const ofService = { name: 'collector', port: 80 }

beforeAll(async () => {
  echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  collector = stops.use(await startCollector())
  const token = 'kept-out-of-all-logs'
  settings = joinYaml(
    backendYaml('echo', echo.port),
    backendYaml('rpc-collector', collector.grpcPort),
    backendYaml('web-collector', collector.httpPort),
    endpointYaml('collector', collector.grpcPort),
    policyYaml('collector-token', 'ProxyBackend', 'web-collector', { backend: { auth: { key: token } } }),
    await loggedYaml('plain', { otlp: { backendRef: ofService } }),
    await loggedYaml('web', { otlp: { backendRef: backendRef('web-collector'), protocol: 'HTTP' } }),
    await loggedYaml('path', {
      otlp: { backendRef: backendRef('web-collector'), protocol: 'HTTP', path: '/custom/logs?tenant=a' },
      filter: 'response.code == 404',
      attributes: {
        remove: ['http.method', 'duration'],
        add: [
          { name: 'http.status', expression: '"as text"' },
          { name: 'nested', expression: '{"list": [1, 1.5, true], "none": null}' },
          { name: 'missing', expression: 'jwt.sub' },
          { name: 'secret', expression: `"has ${token} in it"` },
        ],
      },
    }),
  )
  const folder = await createObjectsFolder({ 'all.yaml': settings })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 2 }))
})

afterAll(() => stops.disposeAsync())

beforeEach(() => {
  collector.received.length = 0
  collector.answer = () => ({})
})

const request = (name: string, path: string, init?: RequestInit) =>
  fetch(`http://127.0.0.1:${ports.get(name)}${path}`, init).then((response) => response.text())

/** The record of a request to this path. */
const recordOf = (path: string): Promise<Received> =>
  arrives(`a record of ${path}`, () => collector.received.find(({ attributes }) => attributes['http.path'] === path))

async function metric(line: string): Promise<number> {
  const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  const found = text.split('\n').find((one) => one.startsWith(line))
  return found === undefined ? 0 : Number(found.split(' ').at(-1))
}

verifies(
  ['frontend.accessLog.otlp/export', 'frontend.accessLog.otlp/protocol-default'],
  'by default entries are exported over gRPC, with the fields of the lines',
  async () => {
    await request('plain', '/one?api_key=hidden-value', { method: 'POST', body: 'x' })
    const { transport, path, resource, scope, item, attributes } = await recordOf('/one?api_key=<redacted>')
    expect([transport, path, scope]).toEqual([
      'GRPC',
      '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
      'gatewright',
    ])
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    expect(resource).toEqual({ 'service.name': 'gatewright', 'service.version': version })
    expect(item).toMatchObject({
      severityNumber: 'SEVERITY_NUMBER_INFO',
      severityText: 'INFO',
      eventName: 'gatewright.request',
    })
    expect(item.body).toBeUndefined()
    expect(Math.abs(Number(BigInt(String(item.timeUnixNano)) / 1_000_000n) - Date.now())).toBeLessThan(600_000)
    expect(attributes).toEqual({
      gateway: 'default/plain',
      listener: 'http',
      route_rule: 'rule 0',
      route: 'default/plain',
      endpoint: `127.0.0.1:${echo.port}`,
      'src.addr': expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      'http.method': 'POST',
      'http.host': '127.0.0.1',
      'http.path': '/one?api_key=<redacted>',
      'http.version': 'HTTP/1.1',
      'http.status': 200,
      protocol: 'http',
      duration: expect.any(Number),
    })
    await eventually('the line is written, too', () =>
      gateway.output.stdout.includes('http.path="/one?api_key=<redacted>"'),
    )
  },
)

verifies('frontend.accessLog.otlp/path-default', 'protocol HTTP has a default path', async () => {
  await request('web', '/two')
  const { transport, path, headers } = await recordOf('/two')
  expect([transport, path, headers['content-type']]).toEqual(['HTTP', '/v1/logs', 'application/x-protobuf'])
  expect(headers['user-agent']).toMatch(/^gatewright\//)
})

verifies(
  'frontend.accessLog.otlp/backendRef-kinds',
  'the server is a Service or a ProxyBackend, and its backend policies apply',
  async () => {
    await request('plain', '/to-service')
    await request('web', '/to-backend')
    expect((await recordOf('/to-service')).headers.authorization).toBeUndefined()
    expect((await recordOf('/to-backend')).headers.authorization).toBe('Bearer kept-out-of-all-logs')
  },
)

verifies(
  ['logTracingAttributes/remove', 'logTracingAttributes/add', 'logTracingAttributes/add-failure'],
  'filter and attributes apply to exported entries, too',
  async () => {
    await request('path', '/dropped')
    await request('path', '/kept?status=404')
    const { path, attributes } = await recordOf('/kept?status=404')
    expect(path).toBe('/custom/logs?tenant=a')
    expect(attributes).toMatchObject({
      'http.status': 'as text',
      nested: { list: [1, 1.5, true], none: null },
      secret: 'has <redacted> in it',
    })
    for (const name of ['http.method', 'duration', 'missing']) expect(attributes).not.toHaveProperty([name])
    expect(collector.received.map(({ attributes }) => attributes['http.path'])).not.toContain('/dropped')
  },
)

test('many entries share an export', async () => {
  collector.exports = 0
  await Promise.all(Array.from({ length: 100 }, (_, i) => request('plain', `/many/${i}`)))
  await arrives('all', () => (collector.received.length === 100 ? true : undefined))
  expect(collector.exports, 'two workers').toBeLessThan(20)
})

test.each([
  ['gRPC', 'plain', { status: 14, retryAfterSeconds: 0 }],
  ['HTTP', 'web', { status: 503, retryAfterSeconds: 0 }],
] as const)('an entry that a server cannot take now is sent again: %s', async (_, name, refusal) => {
  let refused = 0
  collector.answer = () => (refused++ === 0 ? refusal : {})
  await request(name, '/again')
  await recordOf('/again')
  expect(refused).toBe(2)
  await arrives('a message', () => /telemetry again/.test(gateway.output.stderr) || undefined)
})

test.each([
  ['a status that stays', 'web', { status: 400 }],
  ['a gRPC status that stays', 'plain', { status: 3 }],
  ['exhausted without a time to wait', 'plain', { status: 8 }],
  ['a part of an export', 'plain', { rejected: 1, message: 'too old' }],
] as const)('entries that a server refuses are dropped and counted: %s', async (_, name, answer) => {
  const line = 'gatewright_telemetry_dropped_total{signal="logs",reason="refused"}'
  const before = await metric(line)
  collector.answer = () => answer
  await request(name, '/refused')
  await arrives('a drop', async () => ((await metric(line)) > before ? true : undefined))
})

test('what waits is delivered at the end', async () => {
  const folder = await createObjectsFolder({ 'all.yaml': settings })
  onTestFinished(folder.remove)
  for (const name of ports.keys()) ports.set(name, await freePort())
  await folder.write(
    'all.yaml',
    joinYaml(
      backendYaml('echo', echo.port),
      backendYaml('rpc-collector', collector.grpcPort),
      await loggedYaml('last', { otlp: { backendRef: backendRef('rpc-collector') } }),
    ),
  )
  const second = await startGateway({ files: [folder.path], workers: 1, drains: true })
  await request('last', '/last')
  await second.close()
  expect(collector.received.map(({ attributes }) => attributes['http.path'])).toEqual(['/last'])
})
