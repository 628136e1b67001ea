import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Echo, startEcho } from '#examples/upstreams/echo.ts'
import { arrival, type Collector, type Received, startCollector } from '#test/support/collector.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendRef, backendYaml, createObjectsFolder, joinYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { endpointYaml, frontendYaml, idsOf } from '#test/support/traced-gateway.ts'
import { verifies } from '#test/support/verifies.ts'

/** Traces that a running gateway exports over OTLP. */

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const recorded = `00-${TRACE}-${PARENT}-01`
const unrecorded = `00-${TRACE}-${PARENT}-00`

const stops = new AsyncDisposableStack()
const arrives = arrival(stops.use(new PassingTime()))
let gateway: TestGateway
let collector: Collector
let echo: Awaited<ReturnType<typeof startEcho>>
const ports = new Map<string, number>()

const toService = { backendRef: { name: 'collector', port: 80 } }
const toBackend = { backendRef: backendRef('web-collector'), protocol: 'HTTP' }
const customized = {
  attributes: {
    remove: ['http.path', 'user_agent.original', 'route'],
    add: [
      { name: 'span.name', expression: '"call of " + request.path' },
      { name: 'listener', expression: '"mine"' },
      { name: 'status.is', expression: 'response.code' },
      { name: 'missing', expression: 'jwt.sub' },
    ],
  },
  resources: [
    { name: 'service.name', expression: '"edge"' },
    { name: 'team', expression: '["a", "b"]' },
    { name: 'pod', expression: 'env.podName' },
    { name: 'missing', expression: 'env.gateway' },
  ],
}
/** Settings by the name of their Gateway. */
const SETTINGS = {
  unset: toService,
  yes: { ...toService, randomSampling: 'request.path != "/no"' },
  web: { ...toBackend, randomSampling: 'true', ...customized },
  path: { ...toBackend, path: '/x/traces', randomSampling: '1' },
  half: { ...toService, randomSampling: '0.5', clientSampling: '0.5' },
  none: { ...toService, clientSampling: '0.0' },
  all: { ...toService, clientSampling: '1.0' },
  broken: { ...toService, randomSampling: 'jwt.sub == "a"', clientSampling: 'jwt.sub == "a"' },
  decides: { ...toService, clientSampling: 'request.path != "/no"' },
}

beforeAll(async () => {
  echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  collector = stops.use(await startCollector())
  const gateways: string[] = []
  for (const [name, tracing] of Object.entries(SETTINGS)) {
    const port = await freePort()
    ports.set(name, port)
    gateways.push(frontendYaml(name, port, { tracing }))
  }
  const settings = joinYaml(
    backendYaml('echo', echo.port),
    backendYaml('web-collector', collector.httpPort),
    endpointYaml('collector', collector.grpcPort),
    ...gateways,
  )
  const folder = await createObjectsFolder({ 'all.yaml': settings })
  stops.defer(folder.remove)
  const environment = { POD_NAME: 'pod-1', NAMESPACE: 'here' }
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1, environment }))
})

afterAll(() => stops.disposeAsync())

beforeEach(() => {
  collector.received.length = 0
})

/** @returns what the backend received */
async function request(
  name: keyof typeof SETTINGS,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Echo> {
  const response = await fetch(`http://127.0.0.1:${ports.get(name)}${path}`, { headers })
  return (await response.json()) as Echo
}

const server = ({ item }: Received) => item.kind === 'SPAN_KIND_SERVER'

/** The two spans of a request, whose path only it has. */
async function spansOf(path: string): Promise<{ ofRequest: Received; ofAttempt: Received }> {
  const ofRequest = await arrives(`the span of ${path}`, () =>
    collector.received.find((one) => server(one) && one.attributes['url.path'] === path),
  )
  const { span } = idsOf(ofRequest)
  const ofAttempt = await arrives('its attempt', () => collector.received.find((one) => idsOf(one).parent === span))
  return { ofRequest, ofAttempt }
}

/** The server spans so far, after a request whose span comes last. */
async function tracedBefore(name: keyof typeof SETTINGS): Promise<readonly unknown[]> {
  await request(name, '/last', name === 'decides' || name === 'unset' ? { traceparent: recorded } : {})
  await spansOf('/last')
  const traced = collector.received.filter(server).map(({ attributes }) => attributes['url.path'])
  return traced.filter((path) => path !== '/last')
}

verifies(
  [
    'service/traces',
    'frontend.tracing/export',
    'frontend.tracing/protocol-default',
    'frontend.tracing/randomSampling-boolean',
    'frontend.tracing/randomSampling-starts-trace',
  ],
  'a request without a trace begins one: its span, and that of the attempt below it, are exported over gRPC',
  async () => {
    const seen = await request('yes', '/one?api_key=hidden&q=1', { tracestate: 'of=nothing', baggage: 'a=b' })
    const { ofRequest, ofAttempt } = await spansOf('/one')
    expect([ofRequest.transport, ofRequest.path, ofRequest.scope]).toEqual([
      'GRPC',
      '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      'gatewright',
    ])
    const ids = idsOf(ofRequest)
    expect([ids.trace, ids.span, ids.parent]).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}$/),
      expect.stringMatching(/^[0-9a-f]{16}$/),
      '',
    ])
    expect(seen.headers.traceparent, 'the backend continues the attempt').toBe(
      `00-${ids.trace}-${idsOf(ofAttempt).span}-01`,
    )
    expect(seen.headers.tracestate, 'without a trace it means nothing').toBeUndefined()
    expect(seen.headers.baggage).toBe('a=b')
    expect(ofRequest.item).toMatchObject({ name: 'GET /*', kind: 'SPAN_KIND_SERVER', flags: 0x101 })
    expect(ofRequest.item.status).toBeUndefined()
    expect(ofRequest.attributes).toEqual({
      'client.address': '127.0.0.1',
      'client.port': expect.any(Number),
      'network.peer.address': '127.0.0.1',
      'network.peer.port': expect.any(Number),
      'http.request.method': 'GET',
      'url.scheme': 'http',
      'url.path': '/one',
      'url.query': 'api_key=<redacted>&q=1',
      'server.address': '127.0.0.1',
      'server.port': ports.get('yes'),
      'http.route': '/*',
      'user_agent.original': expect.any(String),
      'network.protocol.version': '1.1',
      'http.response.status_code': 200,
      gateway: 'default/yes',
      listener: 'http',
      route: 'default/yes',
      route_rule: 'rule 0',
      endpoint: `127.0.0.1:${echo.port}`,
      protocol: 'http',
    })
    expect(ofAttempt.item).toMatchObject({ name: 'GET', kind: 'SPAN_KIND_CLIENT', flags: 0x101 })
    expect(idsOf(ofAttempt).trace).toBe(ids.trace)
    expect(ofAttempt.attributes).toEqual({
      'http.request.method': 'GET',
      'server.address': '127.0.0.1',
      'server.port': echo.port,
      'url.full': `http://127.0.0.1:${ports.get('yes')}/one?api_key=<redacted>&q=1`,
      'http.response.status_code': 200,
    })
    const time = ({ item }: Received, name: string) => BigInt(String(item[name]))
    const times = [
      time(ofRequest, 'startTimeUnixNano'),
      time(ofAttempt, 'startTimeUnixNano'),
      time(ofAttempt, 'endTimeUnixNano'),
      time(ofRequest, 'endTimeUnixNano'),
    ]
    expect(times.toSorted(), 'the attempt is within the request').toEqual(times)
    expect(Math.abs(Number(times[0]! / 1_000_000n) - Date.now())).toBeLessThan(600_000)
  },
)

verifies(
  ['frontend.tracing/path-default', 'frontend.tracing/backendRef-kinds'],
  'over HTTP, to a ProxyBackend',
  async () => {
    await request('web', '/two')
    await request('path', '/three')
    const paths = async (name: string) => {
      const { transport, path } = await arrives('a span', () =>
        collector.received.find(({ attributes }) => attributes.gateway === name),
      )
      return [transport, path]
    }
    expect(await paths('default/web')).toEqual(['HTTP', '/v1/traces'])
    expect(await paths('default/path')).toEqual(['HTTP', '/x/traces'])
  },
)

verifies(
  ['frontend.tracing/attributes', 'frontend.tracing/resources'],
  'attributes and resources by expression',
  async () => {
    await request('web', '/mine')
    const { item, attributes, resource } = await arrives('the span', () => collector.received.find(server))
    expect(item.name).toBe('call of /mine')
    expect(attributes).toMatchObject({ listener: 'mine', 'status.is': 200, 'http.request.method': 'GET' })
    for (const name of ['url.path', 'url.query', 'user_agent.original', 'route', 'missing', 'span.name']) {
      expect(attributes).not.toHaveProperty([name])
    }
    expect(resource).toEqual({
      'service.name': 'edge',
      'service.version': expect.any(String),
      'k8s.pod.name': 'pod-1',
      'k8s.namespace.name': 'here',
      team: ['a', 'b'],
      pod: 'pod-1',
    })
  },
)

verifies('frontend.tracing/randomSampling-unset', 'without randomSampling no trace begins', async () => {
  const seen = await request('unset', '/quiet', { tracestate: 'a=b' })
  expect([seen.headers.traceparent, seen.headers.tracestate]).toEqual([undefined, 'a=b'])
  expect(await tracedBefore('unset')).toEqual([])
})

verifies('frontend.tracing/randomSampling-number', 'a number is the share of requests that begin a trace', async () => {
  const count = 200
  const seen = await Promise.all(Array.from({ length: count }, (_, i) => request('half', `/share/${i}`)))
  const traced = seen.filter(({ headers }) => headers.traceparent !== undefined).length
  // Beyond these bounds in one of 10^15 runs.
  expect(traced).toBeGreaterThan(40)
  expect(traced).toBeLessThan(160)
  await arrives('all spans', () => collector.received.filter(server).length === traced || undefined)
})

verifies(
  ['frontend.tracing/clientSampling-unset', 'frontend.tracing/clientSampling-starts-span'],
  'without clientSampling every request with a trace gets a span in it, if its sender records the trace',
  async () => {
    const seen = await request('unset', '/joined', { traceparent: recorded, tracestate: 'a=b', baggage: 'c=d' })
    const { ofRequest, ofAttempt } = await spansOf('/joined')
    expect(idsOf(ofRequest)).toMatchObject({ trace: TRACE, parent: PARENT })
    expect(ofRequest.item).toMatchObject({ traceState: 'a=b', flags: 0x301 })
    expect(ofAttempt.item.traceState).toBe('a=b')
    expect(seen.headers).toMatchObject({
      traceparent: `00-${TRACE}-${idsOf(ofAttempt).span}-01`,
      tracestate: 'a=b',
      baggage: 'c=d',
    })
    const other = await request('unset', '/not-recorded', { traceparent: unrecorded, tracestate: 'a=b' })
    expect(other.headers).toMatchObject({ traceparent: unrecorded, tracestate: 'a=b' })
    expect(await tracedBefore('unset')).toEqual(['/joined'])
  },
)

verifies('frontend.tracing/clientSampling-boolean', 'clientSampling decides instead of the sender', async () => {
  const on = await request('decides', '/on', { traceparent: unrecorded })
  const { ofAttempt } = await spansOf('/on')
  expect(on.headers.traceparent).toBe(`00-${TRACE}-${idsOf(ofAttempt).span}-01`)
  const off = await request('decides', '/no', { traceparent: recorded })
  expect(off.headers.traceparent).toBe(recorded)
  expect(await tracedBefore('decides')).toEqual(['/on'])
})

verifies(
  'frontend.tracing/clientSampling-number',
  'a number is a share of traces: all requests of a trace are treated alike',
  async () => {
    const idWith = (last: string) => `${TRACE.slice(0, 24)}${last}`
    const lower = idWith('7fffffff')
    const upper = idWith('80000000')
    for (let i = 0; i < 5; i++) {
      const low = await request('half', '/low', { traceparent: `00-${lower}-${PARENT}-00` })
      expect(low.headers.traceparent).toMatch(new RegExp(`^00-${lower}-(?!${PARENT})[0-9a-f]{16}-01$`))
      const high = await request('half', '/high', { traceparent: `00-${upper}-${PARENT}-01` })
      expect(high.headers.traceparent).toBe(`00-${upper}-${PARENT}-01`)
    }
    await arrives('spans', () => collector.received.filter(server).length === 5 || undefined)
    for (const trace of [idWith('00000001'), idWith('ffffffff')]) {
      const none = await request('none', '/none', { traceparent: `00-${trace}-${PARENT}-01` })
      expect(none.headers.traceparent).toBe(`00-${trace}-${PARENT}-01`)
      const all = await request('all', '/all', { traceparent: `00-${trace}-${PARENT}-00` })
      expect(all.headers.traceparent).toMatch(new RegExp(`^00-${trace}-(?!${PARENT})[0-9a-f]{16}-01$`))
    }
    await arrives('all spans', () => collector.received.filter(server).length === 7 || undefined)
  },
)

test.each([
  ['an invalid traceparent', `00-${TRACE}-0000000000000000-01`],
  ['two of them', `${recorded}, ${recorded}`],
])('%s counts as none: a new trace begins', async (_, traceparent) => {
  const seen = await request('yes', '/invalid', { traceparent, tracestate: 'a=b' })
  expect(seen.headers.traceparent).not.toContain(TRACE)
  expect(seen.headers.tracestate).toBeUndefined()
  expect(idsOf((await spansOf('/invalid')).ofRequest).parent).toBe('')
})

test('an expression that fails samples nothing', async () => {
  const seen = await request('broken', '/a', { traceparent: recorded })
  expect(seen.headers.traceparent).toBe(recorded)
  expect((await request('broken', '/b')).headers.traceparent).toBeUndefined()
  await request('yes', '/last-of-all')
  await spansOf('/last-of-all')
  expect(collector.received.filter(server)).toHaveLength(1)
})

test('the access log names the trace', async () => {
  await request('yes', '/logged')
  const { trace, span } = idsOf((await spansOf('/logged')).ofRequest)
  await eventually('the line', () => gateway.output.stdout.includes(`trace.id=${trace} span.id=${span}`) || undefined)
})

test('a request that is not sampled has no trace in its line', async () => {
  await request('yes', '/no')
  const line = await eventually('the line', () =>
    gateway.output.stdout.split('\n').find((one) => one.includes('http.path=/no ')),
  )
  expect(line).not.toContain('trace.id')
})
