import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Echo, startEcho } from '#examples/upstreams/echo.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  listenersYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { tlsSecretYaml } from '#test/support/tls-objects.ts'

/** Backends whose destinations clients choose, in a gateway that permits loopback addresses, and in one that does not. */

const stops = new AsyncDisposableStack()
let folders: { readonly open: ObjectsFolder; readonly strict: ObjectsFolder }
let open: TestGateway
let strict: TestGateway
let ports: Readonly<Record<'open' | 'strict' | 'tls' | 'https' | 'echo', number>>

const any = (more = '') => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: any }
spec: { dynamicForwardProxy: {}${more} }
`
const relayed = (port: number) =>
  joinYaml(
    listenersYaml('relays', [`{ name: tls, protocol: TLS, port: ${port}, tls: { mode: Passthrough } }`]),
    `
apiVersion: gateway.networking.k8s.io/v1
kind: TLSRoute
metadata: { name: all }
spec:
  parentRefs: [{ name: relays }]
  rules: [{ backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: any }] }]
`,
  )
/** Listeners for `*.wild.test` and for any server name, whose requests name their destinations. */
const secured = (port: number) =>
  joinYaml(
    listenersYaml('secured', [
      `{ name: wild, protocol: HTTPS, port: ${port}, hostname: "*.wild.test", tls: { certificateRefs: [{ name: server }] } }`,
      `{ name: all, protocol: HTTPS, port: ${port}, tls: { certificateRefs: [{ name: server }] } }`,
    ]),
    tlsSecretYaml('server', CERTIFICATES.server),
    `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: secured }
spec:
  parentRefs: [{ name: secured }]
  rules: [{ backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: any }] }]
`,
  )
const retry = '      retry: { attempts: 3, codes: [503] }\n'

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(() => echo.close())
  ports = {
    open: await freePort(),
    strict: await freePort(),
    tls: await freePort(),
    https: await freePort(),
    echo: echo.port,
  }
  const objects = (port: number) => joinYaml(gatewayYaml(port), any(), routeYaml('all', '/', 'any', retry))
  folders = {
    open: await createObjectsFolder({ 'all.yaml': objects(ports.open), 'tls.yaml': secured(ports.https) }),
    strict: await createObjectsFolder({ 'all.yaml': objects(ports.strict), 'tls.yaml': relayed(ports.tls) }),
  }
  stops.defer(() => folders.open.remove())
  stops.defer(() => folders.strict.remove())
  const allow = ['--allow-forward-to', '127.0.0.0/8', '--log-format', 'json']
  open = stops.use(await startGateway({ files: [folders.open.path], workers: 1, arguments: allow }))
  strict = stops.use(
    await startGateway({ files: [folders.strict.path], workers: 1, arguments: ['--log-format', 'json'] }),
  )
})

afterAll(() => stops.disposeAsync())

interface Got {
  readonly status: number
  readonly body: string
}

function get(port: number, host: string, path = '/'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = http.get({ host: '127.0.0.1', port, path, headers: { host }, agent: false }, async (response) => {
      resolve({ status: response.statusCode!, body: await text(response) })
    })
    request.on('error', reject)
  })
}

/** Sends bytes and reads until `until` has arrived, or the gateway closes the connection. */
async function exchange(port: number, sent: string, until: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  socket.write(sent)
  let received = ''
  for await (const bytes of socket) {
    received += (bytes as Buffer).toString('latin1')
    if (received.includes(until)) break
  }
  socket.destroy()
  return received
}

test('requests go to the host that they name, with their own Host', async () => {
  for (const host of [`127.0.0.1:${ports.echo}`, `localhost:${ports.echo}`, `LOCALHOST.:${ports.echo}`]) {
    const { status, body } = await get(ports.open, host, '/x?y')
    expect([host, status]).toEqual([host, 200])
    expect(JSON.parse(body) as Echo).toMatchObject({ path: '/x?y', headers: { host } })
  }
})

test('a request with a whole URL goes to its host', async () => {
  const host = `127.0.0.1:${ports.echo}`
  const received = await exchange(
    ports.open,
    `GET http://${host}/abs HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    '"/abs"',
  )
  expect(received).toMatch(/^HTTP\/1\.1 200 /)
})

test.each([
  ['', 200],
  ['server.test', 200],
  ['127.0.0.1.example', 200],
  ['a.wild.test', 421],
] as const)(
  'HTTPS: with server name %j the destination is the host of each request, if it belongs to the listener: %i',
  async (servername, status) => {
    const host = `127.0.0.1:${ports.echo}`
    const options = { servername, rejectUnauthorized: false }
    const secure = { ...options, host: '127.0.0.1', port: ports.https, agent: false, headers: { host } }
    const [first] = (await once(https.get(secure), 'response')) as [http.IncomingMessage]
    expect(first.statusCode).toBe(status)
    first.resume()
    const client = http2.connect(`https://127.0.0.1:${ports.https}`, options)
    for (const name of ['127.0.0.1', 'localhost']) {
      const stream = client.request({ ':path': '/', ':authority': `${name}:${ports.echo}` })
      const [head] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
      const body = await text(stream)
      expect([name, head[':status']]).toEqual([name, status])
      if (status === 200) expect((JSON.parse(body) as Echo).headers.host).toBe(`${name}:${ports.echo}`)
    }
    client.destroy()
  },
)

test('CONNECT is refused', async () => {
  const host = `127.0.0.1:${ports.echo}`
  const received = await exchange(ports.open, `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, '\r\n\r\n')
  expect(received).toMatch(/^HTTP\/1\.1 405 /)
})

test('an upgrade is relayed', async () => {
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (head) => {
      expect(head.toString()).toMatch(/upgrade: websocket/i)
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nwelcome')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.defer(() => void server.close())
  const host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`
  const head = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`
  expect(await exchange(ports.open, head, 'welcome')).toMatch(/^HTTP\/1\.1 101 /)
})

test('an HTTP/2 client without TLS reaches an HTTP/2 server', async () => {
  const server = http2.createServer((request, response) => response.end(`two ${request.authority}`))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.defer(() => void server.close())
  const authority = `127.0.0.1:${(server.address() as net.AddressInfo).port}`
  const client = http2.connect(`http://127.0.0.1:${ports.open}`)
  const stream = client.request({ ':path': '/', ':authority': authority })
  expect(await text(stream)).toBe(`two ${authority}`)
  client.destroy()
})

test.each([
  '127.0.0.1',
  'localhost',
  '[::1]',
  '0.0.0.0',
  '2130706433',
  '0x7f.1',
  '127.1',
  '[::ffff:127.0.0.1]',
  '169.254.169.254',
])('without permission, %s is refused', async (host) => {
  expect(await get(ports.strict, `${host}:${ports.echo}`)).toEqual({ status: 403, body: 'destination not allowed' })
})

test('the log has the cause, and the destination; a refused address is not retried', async () => {
  await get(ports.strict, `localhost:${ports.echo}`, '/logged')
  const logged = () => strict.output.stdout.split('\n').find((it) => it.includes('/logged')) ?? ''
  await expect.poll(logged).not.toBe('')
  const line = logged()
  expect(JSON.parse(line)).toMatchObject({
    'http.status': 403,
    endpoint: `localhost:${ports.echo}`,
    'upstream.failure': 'address-not-allowed',
  })
  expect(line).not.toContain('retry.attempt')
})

test.each([
  ['localhost', { endpoint: 'localhost:443', 'upstream.failure': 'address-not-allowed' }],
  ['', {}],
])('a TLS connection to server name %j is closed', async (servername, logged) => {
  const before = strict.output.stdout.length
  const socket = tls.connect({ host: '127.0.0.1', port: ports.tls, servername, rejectUnauthorized: false })
  await new Promise<void>((resolve) => socket.on('error', () => {}).on('close', () => resolve()))
  const line = await eventually('a line', () =>
    strict.output.stdout
      .slice(before)
      .split('\n')
      .find((it) => it !== ''),
  )
  expect(JSON.parse(line)).toMatchObject({ gateway: 'default/relays', ...logged })
})

test('the gateway itself is no destination, even in permitted networks', async () => {
  const own = [ports.open, ...[15_000, 15_020, 15_021].map((port) => Number(new URL(open.url(port)).port))]
  for (const port of own) {
    for (const host of ['127.0.0.1', 'localhost', '0.0.0.0', '[::ffff:127.0.0.1]']) {
      expect([host, port, (await get(ports.open, `${host}:${port}`)).status]).toEqual([host, port, 403])
    }
  }
})

test('no metric has the names of destinations', async () => {
  await get(ports.open, `localhost:${ports.echo}`)
  const metrics = await (await fetch(`${open.url(15_020)}/metrics`)).text()
  expect(metrics).toContain('endpoint="*"')
  expect(metrics).not.toContain('localhost')
})

test('lint and the status warn that everybody can use it', async () => {
  const { stdout } = await gatewright(['lint', folders.open.path])
  expect(stdout).toContain(
    'spec.rules[0].backendRefs[0]: HTTPRoute default/all: every client of listener http can reach any server through ProxyBackend default/any',
  )
  expect(stdout).toContain('[open-forward-proxy]')
  const status = await (await fetch(`${open.url(15_000)}/status`)).text()
  expect(status).toContain('open-forward-proxy')
})

test('explain shows the destination, or why it is refused', async () => {
  const explain = async (...words: string[]) =>
    (await gatewright(['explain', '-f', folders.open.path, ...words])).stdout
  const url = `http://127.0.0.1:${ports.open}/`
  const shown = await explain('-H', 'host: api.example.com', url)
  expect(shown).toContain('> api.example.com:80 (named by the request; its address is checked when it is dialled)')
  const refused = await explain('-H', 'host: 127.0.0.1:81', url)
  expect(refused).toContain('403 destination not allowed (destination-not-allowed: 127.0.0.1 is a loopback address)')
  const allowed = ['--allow-forward-to', '127.0.0.1', '-H', 'host: 127.0.0.1:81', url]
  expect(await explain(...allowed)).toContain('> 127.0.0.1:81 (named by the request')
})
