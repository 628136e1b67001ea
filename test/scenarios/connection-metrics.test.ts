import http2 from 'node:http2'
import net from 'node:net'
import tls from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

const stops = new AsyncDisposableStack()
const ports = { plain: 0, shared: 0, secured: 0 }
let gateway: TestGateway

function objectYaml(object: object): string {
  return `\n${JSON.stringify(object)}\n`
}

beforeAll(async () => {
  for (const name of ['plain', 'shared', 'secured'] as const) ports[name] = await freePort()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const { cert, key } = CERTIFICATES.server
  const under = { certificateRefs: [{ name: 'door' }] }
  const listeners = [
    { name: 'plain', protocol: 'HTTP', port: ports.plain },
    { name: 'a', protocol: 'HTTP', port: ports.shared, hostname: 'a.test' },
    { name: 'b', protocol: 'HTTP', port: ports.shared, hostname: 'b.test' },
    { name: 'named', protocol: 'HTTPS', port: ports.secured, hostname: 'server.test', tls: under },
    { name: 'rest', protocol: 'HTTPS', port: ports.secured, tls: under },
  ]
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      objectYaml({
        ...{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', metadata: { name: 'main' } },
        spec: { gatewayClassName: 'gatewright', listeners },
      }),
      objectYaml({
        ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'door' } },
        stringData: { 'tls.crt': cert, 'tls.key': key },
      }),
      backendYaml('echo', echo.port),
      routeYaml('all', '/', 'echo'),
    ),
  })
  stops.defer(folder.remove)
  gateway = await startGateway({ files: [folder.path], workers: 1 })
  stops.defer(() => gateway.close().then(() => {}))
})

afterAll(() => stops.disposeAsync())

/** The values of a metric by `listener protocol`, where `bind` ends with `port`. */
async function metric(name: string, port: number): Promise<Record<string, number>> {
  const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  const lines = text.matchAll(
    new RegExp(
      `^gatewright_${name}{bind="127.0.0.1:${port}",gateway="([^"]*)",listener="([^"]*)",protocol="(\\w+)"} (.*)$`,
      'gm',
    ),
  )
  return Object.fromEntries(
    [...lines].map(([, gw, listener, protocol, value]) => [`${gw} ${listener} ${protocol}`, Number(value)]),
  )
}

/** Sends `text` and ends once something was answered. @returns how many bytes were */
function exchange(socket: net.Socket, text: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let heard = 0
    socket.on('data', (bytes) => {
      heard += bytes.length
    })
    socket.on('end', () => socket.end())
    socket.on('error', reject).on('close', () => resolve(heard))
    socket.write(text)
  })
}

const REQUEST = 'GET /x HTTP/1.1\r\nHost: server.test\r\n'
const THREE = `${REQUEST}\r\n${REQUEST}\r\n${REQUEST}Connection: close\r\n\r\n`

test('a plain connection counts once, with every byte', async () => {
  const heard = await exchange(net.connect(ports.plain, '127.0.0.1'), THREE)
  const of = await eventually('the connection is counted', async () => {
    const counted = await metric('downstream_connections_total', ports.plain)
    return Object.keys(counted).length > 0 ? counted : undefined
  })
  expect(of).toEqual({ 'default/main plain http': 1 })
  expect(await metric('downstream_received_bytes_total', ports.plain)).toEqual({
    'default/main plain http': THREE.length,
  })
  expect(await metric('downstream_sent_bytes_total', ports.plain)).toEqual({ 'default/main plain http': heard })
})

test('a connection to a port of several plain HTTP listeners has no listener label', async () => {
  await exchange(net.connect(ports.shared, '127.0.0.1'), THREE)
  const of = await eventually('the connection is counted', async () => {
    const counted = await metric('downstream_connections_total', ports.shared)
    return Object.keys(counted).length > 0 ? counted : undefined
  })
  expect(of).toEqual({ 'default/main unknown http': 1 })
})

test('HTTP/1 and HTTP/2 under TLS belong to the listener of their server name; handshakes are timed', async () => {
  const where = { port: ports.secured, host: '127.0.0.1', rejectUnauthorized: false }
  const heard = await exchange(tls.connect(where), THREE)
  const session = http2.connect(`https://127.0.0.1:${ports.secured}`, {
    servername: 'server.test',
    rejectUnauthorized: false,
  })
  const request = session.request({ ':path': '/', ':authority': 'server.test' }).resume()
  await new Promise((resolve) => request.on('end', resolve))
  await new Promise<void>((resolve) => session.close(resolve))
  await eventually('both are counted', async () => {
    const counted = await metric('downstream_connections_total', ports.secured)
    return Object.keys(counted).length === 2 || undefined
  })
  const [rest, named] = ['default/main rest https', 'default/main named https']
  expect(await metric('downstream_connections_total', ports.secured)).toEqual({ [rest]: 1, [named]: 1 })
  expect(await metric('downstream_received_bytes_total', ports.secured)).toMatchObject({ [rest]: THREE.length })
  const sent = await metric('downstream_sent_bytes_total', ports.secured)
  expect(sent[rest]).toBe(heard)
  expect(sent[named]).toBeGreaterThan(100)
  expect(await metric('tls_handshake_duration_seconds_count', ports.secured)).toEqual({ [rest]: 1, [named]: 1 })
  expect((await metric('tls_handshake_duration_seconds_sum', ports.secured))[rest]).toBeGreaterThan(0)
})

test('plain HTTP/2 counts once, though it began as HTTP/1', async () => {
  const session = http2.connect(`http://127.0.0.1:${ports.plain}`)
  const request = session.request({ ':path': '/' }).resume()
  await new Promise((resolve) => request.on('end', resolve))
  await new Promise<void>((resolve) => session.close(resolve))
  await eventually('it is counted', async () => {
    const counted = await metric('downstream_connections_total', ports.plain)
    return counted['default/main plain http'] === 2 || undefined
  })
})

test('what the gateway and the backend take of a request is measured, and the connection to the backend', async () => {
  const before = await counts()
  await exchange(net.connect(ports.plain, '127.0.0.1'), THREE)
  const after = await eventually('three more requests', async () => {
    const now = await counts()
    return now.request_processing === before.request_processing! + 3 ? now : undefined
  })
  expect(after).toMatchObject({
    response_processing: before.response_processing! + 3,
    upstream_call_duration: before.upstream_call_duration! + 3,
  })
  expect(after.upstream_connect_duration, 'connections are used again').toBeGreaterThan(0)
  expect(after.upstream_connect_duration).toBeLessThan(after.request_processing!)
})

/** How often each histogram has observed something, by name without its unit. */
async function counts(): Promise<Record<string, number>> {
  const names = ['request_processing', 'response_processing', 'upstream_call_duration', 'upstream_connect_duration']
  const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  const lines = (name: string) => text.matchAll(new RegExp(`^gatewright_${name}_seconds_count\\{.*\\} (\\d+)$`, 'gm'))
  return Object.fromEntries(
    names.map((name) => [name, [...lines(name)].reduce((sum, [, count]) => sum + Number(count), 0)]),
  )
}
