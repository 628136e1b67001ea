import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { StatusReport } from '#admin/status-report.ts'
import { startEcho } from '#examples/upstreams/echo.ts'
import { type Collector, startCollector } from '#test/support/collector.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendRef, backendYaml, createObjectsFolder, joinYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { frontendYaml } from '#test/support/traced-gateway.ts'

/** OTLP servers that are dead, deaf, silent or hostile: they cost entries and spans, and nothing else. */

const stops = new AsyncDisposableStack()
let startedMs: number
const time = stops.use(new PassingTime())
let collector: Collector
let gateway: TestGateway
const ports = new Map<string, number>()

/** A server that does this with each connection. @returns its port */
async function startRaw(connected: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    connected(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** By the name of the Gateway. */
const PROTOCOLS = {
  dead: 'GRPC',
  deaf: 'GRPC',
  silent: 'GRPC',
  'silent-http': 'HTTP',
  garbage: 'HTTP',
  resets: 'GRPC',
  endless: 'HTTP',
}

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  collector = stops.use(await startCollector())
  collector.answer = () => 'never'
  startedMs = performance.now()
  const servers: Record<keyof typeof PROTOCOLS, number> = {
    dead: await freePort(),
    deaf: await startRaw((socket) => socket.pause()),
    silent: collector.grpcPort,
    'silent-http': collector.httpPort,
    garbage: await startRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n\xff\xff\xff')),
    resets: await startRaw((socket) => void socket.once('data', () => socket.resetAndDestroy())),
    endless: await startRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const more = () => {
        while (!socket.destroyed && socket.write('ffff\r\n'.padEnd(0xffff + 6, 'x').concat('\r\n')));
      }
      socket.on('drain', more)
      socket.once('data', more)
    }),
  }
  const objects: string[] = [backendYaml('echo', echo.port)]
  for (const [name, protocol] of Object.entries(PROTOCOLS)) {
    const port = await freePort()
    ports.set(name, port)
    const server = { backendRef: backendRef(name), protocol }
    const frontend = { accessLog: { otlp: server }, tracing: { ...server, randomSampling: 'true' } }
    objects.push(backendYaml(name, servers[name as keyof typeof servers]), frontendYaml(name, port, frontend))
  }
  const folder = await createObjectsFolder({ 'all.yaml': joinYaml(...objects) })
  stops.defer(folder.remove)
  gateway = await startGateway({ files: [folder.path], workers: 1, drains: true })
})

afterAll(() => stops.disposeAsync())

async function metrics(): Promise<string> {
  return await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
}

async function dropped(reason: string): Promise<number> {
  const lines = (await metrics())
    .split('\n')
    .filter((line) => line.includes('telemetry_dropped') && line.includes(reason))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

const AT_ONCE = 50

/** Sends so many requests. @returns the statuses that they got */
async function load(name: string, count: number): Promise<ReadonlySet<number>> {
  const statuses = new Set<number>()
  let left = count
  const client = async () => {
    while (left-- > 0) {
      const response = await fetch(`http://127.0.0.1:${ports.get(name)}/`)
      await response.arrayBuffer()
      statuses.add(response.status)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  return statuses
}

test.each(Object.keys(PROTOCOLS))('requests do not notice a server that is %s', async (name) => {
  expect(await load(name, 200)).toEqual(new Set([200]))
  expect((await fetch(`${gateway.url(15_021)}/healthz/ready`)).status).toBe(200)
})

test('drops are counted from 0, so that the first one is an increase', async () => {
  const lines = (await metrics()).split('\n').filter((line) => line.startsWith('gatewright_telemetry_dropped_total{'))
  const reasons = ['queue-full', 'refused', 'undeliverable', 'too-large', 'shutdown']
  const series = ['logs', 'traces'].flatMap((signal) =>
    reasons.map((reason) => `{signal="${signal}",reason="${reason}"}`),
  )
  expect(lines.map((line) => line.slice(line.indexOf('{'), line.indexOf('}') + 1)).toSorted()).toEqual(
    series.toSorted(),
  )
})

test('what exceeds the queue is dropped and counted; requests are served', async () => {
  const before = await dropped('queue-full')
  // Two spans each: more than wait, and more than are on their way.
  expect(await load('silent', 2200)).toEqual(new Set([200]))
  expect(await dropped('queue-full')).toBeGreaterThan(before)
  // To two servers, two signals, one at a time; an export ends after ten seconds.
  const rounds = 1 + Math.floor((performance.now() - startedMs) / 10_000)
  expect(collector.exports, 'one export at a time, and one for each signal').toBeLessThanOrEqual(4 * rounds)
})

test('the log tells of it once', async () => {
  const told = () => gateway.output.stderr.split('\n').filter((line) => line.includes('does not accept telemetry'))
  await eventually('a line about the dead server', () => told().some((line) => line.includes('/dead ')) || undefined)
  const dead = told().filter((line) => line.includes('/dead ') && line.includes('signal=traces'))
  expect(dead).toHaveLength(1)
  expect(dead[0]).toContain('connection-refused')
  const status = (await (await fetch(`${gateway.url(15_000)}/status`)).json()) as StatusReport
  expect(status.failingOutputs).toContainEqual({
    output: 'traces to ProxyBackend/default/dead',
    cause: expect.stringContaining('connection-refused'),
    since: expect.any(String),
    lost: expect.any(Number),
  })
})

test('the end of the process does not wait for them', async () => {
  let code: number | null = null
  void gateway.close().then((ended) => {
    code = ended
  })
  await time.sooner('it has ended', () => code !== null)
  expect(code).toBe(0)
})
