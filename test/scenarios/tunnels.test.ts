import { createServer } from 'node:http'
import http2 from 'node:http2'
import { createServer as createSecureServer } from 'node:https'
import net, { type AddressInfo, type Server } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { codeOf } from '#policies/shared/testing.ts'
import { echoWebSocket } from '#test/support/echo-websocket.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  joinYaml,
  listenersYaml,
  routeYaml,
  serviceYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { type ProxyServer, startProxyServer } from '#test/support/proxy-server.ts'
import { seeRequest } from '#test/support/see-request.ts'
import { authoritiesYaml } from '#test/support/tls-objects.ts'
import { verifies } from '#test/support/verifies.ts'

/** Destinations behind a proxy server (`backend.tunnel`). */

const stops = new AsyncDisposableStack()
const SERVER = { host: '127.0.0.1', port: 9000 }
const CREDENTIAL = 'Basic dXNlcjpwYXNz'
let gateway: TestGateway
let port: number
let tcpPort: number
let proxy: ProxyServer
let secureProxy: ProxyServer

async function listen(server: Server): Promise<number> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A backend whose name only the proxy server knows, with a policy and a route under `/<name>`. */
function tunnelledYaml(name: string, backend: object = {}, through = 'proxy'): string {
  const backendRef = { group: 'gatewright.dev', kind: 'ProxyBackend', name: through }
  return joinYaml(
    backendYaml(name, 80).replace('127.0.0.1', `${name}.invalid`),
    policyYaml(name, 'ProxyBackend', name, { backend: { tunnel: { backendRef }, ...backend } }),
    routeYaml(name, `/${name}`, name),
  )
}

const TLS = { tls: { caCertificateRefs: [{ name: 'trusted' }], sni: 'server.test' } }
const FAULTS: Readonly<Record<string, (client: net.Socket) => void>> = {
  'refused.invalid': (client) => void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
  'failing.invalid': (client) => void client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'),
  'garbage.invalid': (client) => void client.write('SSH-2.0-server\r\n'),
  'closing.invalid': (client) => void client.destroy(),
  'partial.invalid': (client) => void client.end('HTTP/1.1 200 OK\r\n'),
  'large.invalid': (client) => void client.write(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(9000)}\r\n\r\n`),
  'early.invalid': (client) => void client.write('HTTP/1.1 200 OK\r\n\r\nnot TLS'),
  'silent.invalid': () => {},
}

/** A server that sends first. Its first bytes arrive together with the answer to CONNECT. */
function greet(client: net.Socket): void {
  client.write('HTTP/1.1 200 OK\r\n\r\nhello ')
  client.on('data', (bytes) => client.write(bytes))
  // A connection that one side has ended goes on for the other: the gateway would wait for it when it stops.
  client.on('end', () => client.end())
}

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const secured = await listen(
    http2.createSecureServer({ ...CERTIFICATES.server, allowHTTP1: true }, (request, response) => {
      response.end(`${request.httpVersion} ${String(request.headers['proxy-authorization'])}`)
    }),
  )
  const plain2 = await listen(http2.createServer((_, response) => response.end('h2c')))
  const upgrading = createServer()
  upgrading.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
    socket.pipe(socket)
  })
  const names = {
    'plain.invalid': echo.port,
    'locked.invalid': echo.port,
    'secured.invalid': secured,
    'doubly.invalid': secured,
    // The certificate is for 127.0.0.1, where the proxy server is.
    '192.0.2.7': secured,
    '127.0.0.1': secured,
    'http2.invalid': plain2,
    'upgrading.invalid': await listen(upgrading),
    'sockets.invalid': await listen(createServer().on('upgrade', echoWebSocket)),
    'secure-sockets.invalid': await listen(createSecureServer(CERTIFICATES.server).on('upgrade', echoWebSocket)),
  }
  proxy = stops.use(
    await startProxyServer({ names, credential: CREDENTIAL, faults: { ...FAULTS, 'greeter.invalid': greet } }),
  )
  secureProxy = stops.use(await startProxyServer({ names, tls: CERTIFICATES.server }))
  port = await freePort()
  tcpPort = await freePort()
  const faulty = Object.keys(FAULTS).map((name) => name.replace('.invalid', ''))
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      listenersYaml('main', [
        `{ name: http, protocol: HTTP, port: ${port} }`,
        `{ name: tcp, protocol: TCP, port: ${tcpPort} }`,
      ]),
      authoritiesYaml('trusted', CERTIFICATES.ca),
      backendYaml('proxy', proxy.port),
      policyYaml('proxy', 'ProxyBackend', 'proxy', {
        backend: { auth: { key: CREDENTIAL, location: { header: { name: 'Authorization', prefix: 'Basic' } } } },
      }),
      backendYaml('locked-proxy', proxy.port),
      serviceYaml('secure-proxy', [secureProxy.port]),
      policyYaml('secure-proxy', 'Service', 'secure-proxy', { backend: TLS }),
      backendYaml('nobody', await freePort()),
      tunnelledYaml('plain'),
      tunnelledYaml('locked', {}, 'locked-proxy'),
      tunnelledYaml('unreached', {}, 'nobody'),
      tunnelledYaml('secured', TLS),
      tunnelledYaml('doubly', TLS).replaceAll(
        '{"group":"gatewright.dev","kind":"ProxyBackend","name":"proxy"}',
        '{"name":"secure-proxy","port":80}',
      ),
      tunnelledYaml('by-address', { tls: { caCertificateRefs: [{ name: 'trusted' }] } }).replace(
        'by-address.invalid',
        '127.0.0.1',
      ),
      tunnelledYaml('by-other-address', { tls: { caCertificateRefs: [{ name: 'trusted' }] } }).replace(
        'by-other-address.invalid',
        '192.0.2.7',
      ),
      tunnelledYaml('http2', { http: { version: 'HTTP2' } }),
      tunnelledYaml('upgrading'),
      tunnelledYaml('sockets'),
      tunnelledYaml('secure-sockets', TLS),
      tunnelledYaml('greeter'),
      `
apiVersion: gateway.networking.k8s.io/v1alpha2
kind: TCPRoute
metadata: { name: greeter }
spec:
  parentRefs: [{ name: main, sectionName: tcp }]
  rules: [{ backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: greeter }] }]
`,
      ...faulty.map((name) => tunnelledYaml(name, { ...TLS, tcp: { connectTimeout: '500ms' } })),
      backendYaml('direct', echo.port),
      routeYaml('direct', '/direct', 'direct'),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

beforeEach(() => {
  proxy.seen.length = 0
  secureProxy.seen.length = 0
})

async function ask(path: string): Promise<[status: number, text: string]> {
  const response = await fetch(gateway.url(port) + path)
  return [response.status, await response.text()]
}

verifies('backend.tunnel/https-proxy', 'plain HTTP: the proxy server gets the absolute URL', async () => {
  const [status, text] = await ask('/plain/x?y=1')
  expect(status).toBe(200)
  expect(proxy.seen).toEqual([
    { method: 'GET', target: 'http://plain.invalid/plain/x?y=1', host: 'plain.invalid', credential: CREDENTIAL },
  ])
  const { path, headers } = JSON.parse(text)
  expect([path, headers.host, headers['proxy-authorization']]).toEqual(['/plain/x?y=1', 'plain.invalid', undefined])
})

verifies(
  ['backend.tunnel/https-proxy', 'backend.tunnel/backendRef-kinds'],
  'TLS: a tunnel, whose connection serves further requests',
  async () => {
    expect(await ask('/secured')).toEqual([200, '2.0 undefined'])
    expect(await ask('/secured')).toEqual([200, '2.0 undefined'])
    const asked = {
      method: 'CONNECT',
      target: 'secured.invalid:80',
      host: 'secured.invalid:80',
      credential: CREDENTIAL,
    }
    expect(proxy.seen).toEqual([asked])
    // A Service whose policy sets TLS
    expect(await ask('/doubly')).toEqual([200, '2.0 undefined'])
    expect(secureProxy.seen).toMatchObject([{ method: 'CONNECT', target: 'doubly.invalid:80', credential: undefined }])
  },
)

test('TLS: the certificate must be for the address of the destination, not of the proxy server', async () => {
  expect(await ask('/by-address')).toEqual([200, '2.0 undefined'])
  expect(await ask('/by-other-address')).toEqual([503, 'upstream call failed'])
})

test('HTTP/2 without TLS, and upgrades: a tunnel', async () => {
  expect(await ask('/http2')).toEqual([200, 'h2c'])
  const socket = net.connect(port, '127.0.0.1')
  stops.defer(() => void socket.destroy())
  socket.write('GET /upgrading HTTP/1.1\r\nhost: a.test\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
  let text = ''
  for await (const bytes of socket) {
    if (text === '') socket.write('ping')
    text += bytes
    if (text.endsWith('ping')) break
  }
  expect(text).toMatch(/^HTTP\/1\.1 101 /)
  expect(proxy.seen.map(({ method, target }) => `${method} ${target}`)).toEqual([
    'CONNECT http2.invalid:80',
    'CONNECT upgrading.invalid:80',
  ])
})

test.each(['sockets', 'secure-sockets'])('a WebSocket: a tunnel (%s)', async (name) => {
  const messages = ['short', 'long '.repeat(5000)]
  const socket = new WebSocket(`${gateway.url(port).replace('http', 'ws')}/${name}`)
  const received: unknown[] = []
  const code = await new Promise<number>((resolve) => {
    socket.addEventListener('open', () => messages.forEach((message) => void socket.send(message)))
    socket.addEventListener('message', ({ data }) => {
      received.push(data)
      if (received.length === messages.length) socket.close(4000, 'enough')
    })
    socket.addEventListener('close', (event) => resolve(event.code))
  })
  expect([received, code]).toEqual([messages, 4000])
  expect(proxy.seen).toMatchObject([{ method: 'CONNECT', target: `${name}.invalid:80`, credential: CREDENTIAL }])
})

test('relayed connections: a tunnel, from the first byte of the server', async () => {
  const socket = net.connect(tcpPort, '127.0.0.1')
  stops.defer(() => void socket.destroy())
  let text = ''
  for await (const bytes of socket) {
    if (text === '') socket.write('gateway')
    text += bytes
    if (text.endsWith('gateway')) break
  }
  expect(text).toBe('hello gateway')
})

test('other backends do not use the proxy server', async () => {
  expect((await ask('/direct'))[0]).toBe(200)
  expect(proxy.seen).toEqual([])
})

test('clients never see the demand of a proxy server for credentials', async () => {
  expect(await ask('/locked')).toEqual([503, 'upstream call failed'])
})

const failures: [name: string, status: number, failure: string][] = [
  ['refused', 503, 'tunnel-refused'],
  ['failing', 503, 'tunnel-refused'],
  ['garbage', 503, 'tunnel-failed'],
  ['closing', 503, 'tunnel-failed'],
  ['partial', 503, 'tunnel-failed'],
  ['large', 503, 'tunnel-failed'],
  ['early', 503, 'tunnel-failed'],
  ['silent', 504, 'connect-timeout'],
  ['unreached', 503, 'connection-refused'],
]
test.each(failures)('a proxy server that fails: %s', async (name, status, failure) => {
  const response = await fetch(`${gateway.url(port)}/${name}`)
  expect(response.status).toBe(status)
  const id = response.headers.get('gatewright-decision')
  const record = await fetch(`${gateway.url(15000)}/decisions?id=${id}`)
  expect(await record.text()).toContain(failure)
})

const PROXY = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'proxy' }

function kindYaml(name: string, spec: object): string {
  return `\napiVersion: gatewright.dev/v1alpha1\nkind: ProxyBackend\nmetadata: { name: ${name} }\nspec: ${JSON.stringify(spec)}\n`
}

const unusable: [why: string, shop: object, proxy: object, findings: string[]][] = [
  [
    'behind another proxy server',
    {},
    { static: SERVER, policies: { tunnel: { backendRef: PROXY } } },
    ['tunnel-backend', 'tunnel-backend'],
  ],
  ['of another type', {}, { a2a: SERVER }, ['tunnel-backend']],
  ['in front of a Unix socket', { unixPath: '/run/shop' }, { static: SERVER }, ['tunnel-backend']],
  [
    'with a credential of requests',
    {},
    { static: SERVER, policies: { auth: { passthrough: {} } } },
    ['credential-invalid'],
  ],
]
test.each(unusable)('a proxy server %s refuses', async (_, shop, proxied, codes) => {
  const address = Object.keys(shop).length > 0 ? shop : SERVER
  const { attempt, findings } = await seeRequest(
    joinYaml(
      listenersYaml('main', ['{ name: http, protocol: HTTP, port: 8080 }']),
      kindYaml('shop', { static: address, policies: { tunnel: { backendRef: PROXY } } }),
      kindYaml('proxy', proxied),
      routeYaml('all', '/', 'shop'),
    ),
  )
  const outcome = await attempt()
  expect(['backend-invalid', 'backend-auth-failed']).toContain(codeOf(outcome))
  expect(findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)).toEqual(codes)
})
