import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { type Collector, type Received, startCollector } from '#test/support/collector.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'

/** Metrics that a running gateway exports over OTLP, as environment variables say. */

const INTERVAL_MS = 1000
/** Of an export to a server that does not answer. */
const TIMEOUT_MS = 300
const INTERVAL = { OTEL_METRIC_EXPORT_INTERVAL: String(INTERVAL_MS) }

const time = new PassingTime()
afterAll(() => time[Symbol.dispose]())

/** As `eventually`, but without the time between exports and of exports that are not answered. */
const afterExports: typeof eventually = (name, look) =>
  eventually(name, () => {
    if (!time.skipTimers(INTERVAL_MS)) time.skipTimers(TIMEOUT_MS)
    return look()
  })

async function startMetered(stops: AsyncDisposableStack, environment: Readonly<Record<string, string>>) {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), backendYaml('echo', echo.port), routeYaml('echo', '/', 'echo')),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await startGateway({ files: [folder.path], workers: 1, environment }))
  const ask = async () => (await fetch(gateway.url(port))).text()
  const metrics = async () => (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  return { gateway, ask, metrics }
}

const settingsOf = ({ grpcPort, httpPort }: Collector, protocol: string) => ({
  ...INTERVAL,
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `http://127.0.0.1:${protocol === 'grpc' ? grpcPort : httpPort}/v1/metrics`,
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'authorization=Bearer%20s3cret-of-otlp',
  POD_NAME: 'pod-1',
})

/** The newest value of the counter of requests. */
function requestsIn({ received }: Collector): number {
  const metric = received.findLast(({ item }) => item.name === 'gatewright_requests')
  const { dataPoints } = (metric?.item.sum ?? { dataPoints: [] }) as { dataPoints: { asDouble: number }[] }
  return dataPoints.reduce((sum, { asDouble }) => sum + asDouble, 0)
}

test.each(['grpc', 'http/protobuf'])('over %s: all metrics, once a second and at the end', async (protocol) => {
  await using stops = new AsyncDisposableStack()
  const collector = stops.use(await startCollector())
  const { gateway, ask, metrics } = await startMetered(stops, settingsOf(collector, protocol))
  await ask()
  await ask()
  await afterExports('both requests', () => requestsIn(collector) === 2)
  const { headers, path, transport, resource, scope } = collector.received[0] as Received
  expect([transport, path, scope]).toEqual(
    protocol === 'grpc'
      ? ['GRPC', '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export', 'gatewright']
      : ['HTTP', '/v1/metrics', 'gatewright'],
  )
  expect(headers.authorization).toBe('Bearer s3cret-of-otlp')
  expect(resource).toEqual({
    'service.name': 'gatewright',
    'service.version': expect.any(String),
    'k8s.pod.name': 'pod-1',
  })
  await afterExports('all metrics', async () => {
    const names = new Set(collector.received.map(({ item }) => item.name))
    return familiesIn(await metrics()).every((name) => names.has(name))
  })
  const exported = /gatewright_telemetry_exported_total\{signal="metrics"\} \d/
  await afterExports('counted exports', async () => exported.test(await metrics()))
  await ask()
  await gateway.close()
  expect(requestsIn(collector)).toBe(3)
  expect(gateway.output.stderr).not.toContain('s3cret-of-otlp')
})

/** The names of OpenTelemetry for the metrics of a scrape. */
function familiesIn(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) =>
    name.replace(type === 'counter' ? /_total$/ : /_info$/, ''),
  )
}

const PROBLEM = 'an OTLP server does not accept telemetry'

test('a server that refuses, and takes metrics again, is told twice; nothing else changes', async () => {
  await using stops = new AsyncDisposableStack()
  const collector = stops.use(await startCollector())
  collector.answer = () => ({ status: 401 })
  const { gateway, ask, metrics } = await startMetered(stops, settingsOf(collector, 'http/protobuf'))
  const dropped = /telemetry_dropped_total\{signal="metrics",reason="refused"\} [1-9]/
  await afterExports('two refusals', async () => collector.exports >= 2 && dropped.test(await metrics()))
  expect(gateway.output.stderr.split(PROBLEM)).toHaveLength(2)
  expect(gateway.output.stderr).toContain('the server answered 401: not now')
  await ask()
  collector.answer = () => ({})
  await afterExports('metrics', () => requestsIn(collector) === 1)
  await afterExports('the message', () => gateway.output.stderr.includes('an OTLP server accepts telemetry again'))
})

const SILENT = () => {}
const RESETS = (socket: Socket) => socket.destroy()
const GARBAGE = (socket: Socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n')

test.each([
  ['grpc', 'silent', SILENT, 'no answer within 300 ms'],
  ['http/protobuf', 'silent', SILENT, 'no answer within 300 ms'],
  ['grpc', 'resetting', RESETS, 'cause='],
  ['http/protobuf', 'resetting', RESETS, 'cause='],
  ['grpc', 'wrong', GARBAGE, 'cause='],
  ['http/protobuf', 'wrong', GARBAGE, 'cause='],
])('%s: a %s server costs nothing but exports', async (protocol, _, connected, cause) => {
  await using stops = new AsyncDisposableStack()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    connected(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const { gateway, ask, metrics } = await startMetered(stops, {
    ...INTERVAL,
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol,
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `http://127.0.0.1:${port}/v1/metrics`,
    OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: String(TIMEOUT_MS),
  })
  const dropped = /telemetry_dropped_total\{signal="metrics",reason="undeliverable"\} [1-9]/
  await afterExports('a failed export', async () => dropped.test(await metrics()))
  expect(gateway.output.stderr).toContain(PROBLEM)
  expect(gateway.output.stderr).toContain(cause)
  expect(await ask()).not.toBe('')
  expect((await fetch(`${gateway.url(15_021)}/healthz/ready`)).status).toBe(200)
  expect(await gateway.close()).toBe(0)
})
