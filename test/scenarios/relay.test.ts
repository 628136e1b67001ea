import { once } from 'node:events'
import { request } from 'node:https'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DescribedRecord } from '#admin/describe-record.ts'
import { startEcho } from '#examples/upstreams/echo.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  joinYaml,
  listenersYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { tlsSecretYaml } from '#test/support/tls-objects.ts'
import { verifies } from '#test/support/verifies.ts'

const stops = new AsyncDisposableStack()
/** A loopback address of our own: on it, no other program takes the ports. */
const HOST = `127.32.${process.pid % 250}.${1 + ((process.pid >> 8) % 250)}`
const ports = {
  echo: 16_001,
  counting: 16_002,
  weights: 16_003,
  empty: 16_004,
  down: 16_005,
  breaking: 16_006,
  tls: 16_007,
  going: 16_008,
  closed: 16_009,
  through: 16_010,
}
/** A port without a listener. */
const NOBODY = 1
/** Received by the server behind `counting`, which answers when the client has ended. */
let received = 0
let folder: ObjectsFolder
let gateway: TestGateway

interface Listener {
  readonly name: string
  readonly port: number
  readonly protocol: 'HTTP' | 'HTTPS' | 'TCP' | 'TLS'
  readonly more?: string
}

function gatewayYaml(name: string, listeners: readonly Listener[]): string {
  return listenersYaml(
    name,
    listeners.map((it) => `{ name: ${it.name}, port: ${it.port}, protocol: ${it.protocol}${it.more ?? ''} }`),
  )
}

/** A route from listener `<name>` of Gateway main to backends with their weights. */
function streamRouteYaml(
  kind: 'TCPRoute' | 'TLSRoute',
  name: string,
  backends: Readonly<Record<string, number>>,
  { listener = name, gateway = 'main', hostnames = [] as readonly string[] } = {},
): string {
  const refs = Object.entries(backends).map(
    ([backend, weight]) => `{ group: gatewright.dev, kind: ProxyBackend, name: ${backend}, weight: ${weight} }`,
  )
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: ${kind}
metadata: { name: ${name} }
spec:
  parentRefs: [{ name: ${gateway}, sectionName: ${listener} }]
${hostnames.length === 0 ? '' : `  hostnames: [${hostnames.join(', ')}]`}
  rules: [{ backendRefs: [${refs.join(', ')}] }]
`
}

const NETWORK_POLICY = policyYaml('nobody', 'Gateway', 'closed', {
  frontend: { networkAuthorization: { policy: { matchExpressions: ['source.address == "10.1.2.3"'] } } },
})

async function serve(server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.defer(() => void server.close())
  return (server.address() as net.AddressInfo).port
}

/** Sends everything back, and ends when the client has. */
const echoing = () => net.createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => {}).pipe(socket))
/** Says its name and ends; listens on until the client has ended too. */
const saying = (name: string) =>
  net.createServer({ allowHalfOpen: true }, (socket) =>
    socket
      .on('error', () => {})
      .resume()
      .end(name),
  )
/** Breaks off in the middle of its answer. */
const breaking = () =>
  net.createServer((socket) => {
    socket.on('error', () => {}).write('half of it')
    socket.once('data', () => socket.resetAndDestroy())
  })
/** Answers over TLS with its name, and the server name that it was asked for. */
const sayingSecured = (name: string) =>
  tls.createServer({ ...CERTIFICATES.server }, (socket) => {
    socket.on('error', () => {}).end(`${name} for ${socket.servername}`)
  })

beforeAll(async () => {
  const counting = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('data', (bytes) => {
      received += bytes.length
    })
    socket.on('end', () => socket.end(`got ${received}`))
  })
  const upstreams = {
    echo: await serve(echoing()),
    counting: await serve(counting),
    breaking: await serve(breaking()),
    one: await serve(saying('one')),
    two: await serve(saying('two')),
    first: await serve(sayingSecured('first')),
    second: await serve(sayingSecured('second')),
    nobody: NOBODY,
  }
  const web = await startEcho({ port: 0 })
  stops.defer(web.close)
  const door = 'tls: { certificateRefs: [{ name: door }] }'
  folder = await createObjectsFolder({
    'gateway.yaml': joinYaml(
      gatewayYaml('main', [
        { name: 'echo', port: ports.echo, protocol: 'TCP' },
        { name: 'counting', port: ports.counting, protocol: 'TCP' },
        { name: 'weights', port: ports.weights, protocol: 'TCP' },
        { name: 'breaking', port: ports.breaking, protocol: 'TCP' },
        { name: 'empty', port: ports.empty, protocol: 'TCP' },
        { name: 'down', port: ports.down, protocol: 'TCP' },
        { name: 'web', port: ports.tls, protocol: 'HTTPS', more: `, hostname: server.test, ${door}` },
        {
          name: 'through',
          port: ports.tls,
          protocol: 'TLS',
          more: ', hostname: "*.wild.test", tls: { mode: Passthrough }',
        },
        {
          name: 'only-through',
          port: ports.through,
          protocol: 'TLS',
          more: ', hostname: "*.wild.test", tls: { mode: Passthrough }',
        },
        { name: 'ends', port: ports.tls, protocol: 'TLS', more: `, hostname: ends.wild.test, ${door}` },
      ]),
      gatewayYaml('closed', [{ name: 'closed', port: ports.closed, protocol: 'TCP' }]),
    ),
    'going.yaml': gatewayYaml('going', [{ name: 'going', port: ports.going, protocol: 'TCP' }]),
    'routes.yaml': joinYaml(
      ...Object.entries(upstreams).map(([name, port]) => backendYaml(name, port)),
      backendYaml('web', web.port),
      routeYaml('web', '/', 'web'),
      streamRouteYaml('TCPRoute', 'echo', { echo: 1 }),
      streamRouteYaml('TCPRoute', 'counting', { counting: 1 }),
      streamRouteYaml('TCPRoute', 'weights', { one: 3, two: 1, missing: 0 }),
      streamRouteYaml('TCPRoute', 'breaking', { breaking: 1 }),
      streamRouteYaml('TCPRoute', 'down', { nobody: 1 }),
      streamRouteYaml('TCPRoute', 'closed', { one: 1 }, { gateway: 'closed' }),
      streamRouteYaml('TCPRoute', 'going', { echo: 1 }, { gateway: 'going' }),
      streamRouteYaml('TLSRoute', 'first', { first: 1 }, { listener: 'through', hostnames: ['first.wild.test'] }),
      streamRouteYaml('TLSRoute', 'others', { second: 1 }, { listener: 'through' }),
      streamRouteYaml('TCPRoute', 'ends', { echo: 1 }),
    ),
    'policy.yaml': NETWORK_POLICY,
    'door.yaml': tlsSecretYaml('door', CERTIFICATES.server),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1, arguments: ['--bind', HOST] }))
})

afterAll(() => stops.disposeAsync())

function open(port: number): net.Socket {
  const socket = net.connect({ port, host: HOST, allowHalfOpen: true })
  stops.defer(() => void socket.destroy())
  return socket
}

interface Heard {
  readonly text: string
  readonly error: string | undefined
}

/** What comes until the connection ends. */
function hear(socket: net.Socket): Promise<Heard> {
  return new Promise((resolve) => {
    let text = ''
    let error: string | undefined
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
    })
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      error = code
    })
    socket.on('end', () => resolve({ text, error }))
    socket.on('close', () => resolve({ text, error }))
  })
}

async function logLine(part: string): Promise<string> {
  return await eventually(`a log line with ${part}`, () =>
    gateway.output.stdout.split('\n').find((line) => line.includes(part)),
  )
}

/** The object that a record blames, and the path in it. */
async function decider(code: string): Promise<string> {
  const response = await fetch(`${gateway.url(15_000)}/decisions?code=${code}`)
  const [record] = (await response.json()) as readonly DescribedRecord[]
  return record!.decidedBy!.sources.map(({ kind, name, path }) => `${kind} ${name} ${path}`).join()
}

verifies('backend.static/tcp', 'bytes go both ways; a client that has ended is still answered', async () => {
  const socket = open(ports.echo)
  const heard = hear(socket)
  socket.write('hello ')
  await once(socket, 'data')
  socket.end('world')
  expect(await heard).toEqual({ text: 'hello world', error: undefined })
  const line = await logLine('route=default/echo')
  expect(line).toMatch(
    / gateway=default\/main listener=echo route_rule="rule 0" route=default\/echo endpoint=127.0.0.1:\d+ src.addr=\S+ protocol=tcp duration=[\d.]+ms$/,
  )
})

test('a server that sends first and ends gets the bytes of the client, which ends later', async () => {
  const socket = open(ports.weights)
  expect(await hear(socket)).toEqual({ text: expect.stringMatching(/^(one|two)$/), error: undefined })
  socket.end('late words')
  await once(socket, 'close')
})

test('many bytes in both directions at once are not buffered by the gateway', async () => {
  const size = 64_000_000
  const socket = open(ports.echo)
  const piece = Buffer.alloc(1_000_000, 'x')
  for (let sent = 0; sent < size; sent += piece.length) socket.write(piece)
  socket.end()
  // There is no reader yet: the echo has to wait, and with it the client.
  await sleep(300)
  expect(socket.writableLength).toBeGreaterThan(size / 4)
  let length = 0
  for await (const bytes of socket) length += (bytes as Buffer).length
  expect(length).toBe(size)
})

test('a large upload arrives whole before its end does', async () => {
  const socket = open(ports.counting)
  const heard = hear(socket)
  socket.end(Buffer.alloc(20_000_000))
  expect((await heard).text).toBe('got 20000000')
})

test('backends are chosen by weight', async () => {
  const names = await Promise.all(Array.from({ length: 200 }, async () => (await hear(open(ports.weights))).text))
  const ones = names.filter((name) => name === 'one').length
  expect(new Set(names)).toEqual(new Set(['one', 'two']))
  expect(ones).toBeGreaterThan(110)
  expect(ones).toBeLessThan(190)
})

test('without a route the connection is closed, and the log has the reason', async () => {
  expect((await hear(open(ports.empty))).text).toBe('')
  expect(await logLine('code=route-not-found')).toContain('listener=empty')
  expect(await decider('route-not-found')).toBe('Gateway main spec.listeners')
})

test('when the backend is unreachable, the connection is closed, and the log has the reason', async () => {
  expect((await hear(open(ports.down))).text).toBe('')
  expect(await logLine('code=upstream-failed')).toMatch(
    /error="upstream call failed: connection-refused at 127.0.0.1:\d+" reason=UpstreamFailure/,
  )
  expect(await decider('upstream-failed')).toBe('ProxyBackend nobody ')
})

test('a server that breaks off is no orderly end for the client', async () => {
  const socket = open(ports.breaking)
  const closed = once(socket, 'close').catch((error: NodeJS.ErrnoException) => error.code)
  const heard = hear(socket)
  await once(socket, 'data')
  socket.write('go on')
  expect(await closed).toBe('ECONNRESET')
  expect(await heard).toEqual({ text: 'half of it', error: 'ECONNRESET' })
  expect(await logLine('listener=breaking')).toContain('error="connection ended: reset"')
})

verifies(
  'frontend.networkAuthorization/before-protocol',
  'a connection that no rule allows is closed before its route is looked for',
  async () => {
    expect((await hear(open(ports.closed))).text).toBe('')
    expect(await logLine('reason=Authorization')).toContain(`dst.addr=${HOST}:${ports.closed}`)
    expect(gateway.output.stdout).not.toContain('listener=closed')
  },
)

/** The client checks the certificate that it is shown. */
function hearSecured(servername: string | undefined, say = ''): Promise<Heard> {
  const socket = tls.connect({
    port: ports.tls,
    host: HOST,
    ca: CERTIFICATES.ca,
    ...(servername === undefined ? {} : { servername }),
  })
  stops.defer(() => void socket.destroy())
  if (say !== '') socket.on('secureConnect', () => socket.end(say))
  return hear(socket)
}

test('TLS passes through by server name: the gateway has no certificate for it, the backends have', async () => {
  const [first, second] = await Promise.all([hearSecured('first.wild.test'), hearSecured('other.wild.test')])
  expect([first.text, second.text]).toEqual(['first for first.wild.test', 'second for other.wild.test'])
  expect(await logLine('tls.sni=other.wild.test')).toContain(
    'listener=through route_rule="rule 0" route=default/others',
  )
})

test('an unknown server name gets an alert, but none where every listener of the port passes TLS through', async () => {
  const refusal = async (port: number) => {
    const [error] = await once(tls.connect({ port, host: HOST, servername: 'other.test' }), 'error')
    return (error as NodeJS.ErrnoException).code
  }
  expect(await refusal(ports.tls)).toBe('ERR_SSL_TLSV1_UNRECOGNIZED_NAME')
  expect(await refusal(ports.through)).toBe('ECONNRESET')
  expect(await logLine(`:${ports.through} error=`)).toContain('error=server-name-unknown reason=InvalidRequest')
})

test('a listener that terminates TLS forwards plain bytes', async () => {
  expect(await hearSecured('ends.wild.test', 'secret')).toMatchObject({ text: 'secret' })
  expect(await logLine('listener=ends')).toContain('tls.sni=ends.wild.test protocol=tcp')
})

/** The status of a request for a host, on a connection to the HTTPS listener. */
function askWeb(host: string): Promise<number | undefined> {
  const options = { port: ports.tls, host: HOST, servername: 'server.test', ca: CERTIFICATES.ca }
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, agent: false, headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).end()
  })
}

test('HTTPS has the same port; requests for a host whose connections are relayed are sent away', async () => {
  expect(await askWeb('server.test')).toBe(200)
  expect(await askWeb('first.wild.test')).toBe(421)
})

test.each(['nobody.test', undefined])('no listener takes the server name %s: no handshake', async (servername) => {
  expect(await hearSecured(servername)).toEqual({ text: '', error: expect.any(String) })
})

test('a removed listener keeps its connections, and accepts no new ones', async () => {
  const socket = open(ports.going)
  socket.write('before')
  await once(socket, 'data')
  await folder.write('going.yaml', '')
  await eventually('the listener is gone', async () => {
    const probe = open(ports.going).on('connect', () => probe.destroy())
    return (await hear(probe)).error === 'ECONNREFUSED' || undefined
  })
  const heard = hear(socket)
  socket.end(' and after')
  expect(await heard).toEqual({ text: ' and after', error: undefined })
})

test('metrics count connections and their bytes, but no requests', async () => {
  const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  const of = (metric: string, listener: string) =>
    Number(new RegExp(`${metric}{[^}]*listener="${listener}"[^}]*} (\\d+)`).exec(text)?.[1])
  expect(of('downstream_connections_total', 'counting')).toBe(1)
  expect(of('downstream_received_bytes_total', 'counting')).toBe(20_000_000)
  expect(of('downstream_sent_bytes_total', 'counting')).toBe('got 20000000'.length)
  expect(text).toContain('protocol="tls"')
  expect(text).not.toMatch(/requests_total{[^}]*protocol="tcp"/)
  expect(text).toMatch(/request_duration_seconds_count{[^}]*protocol="tcp"/)
})

/** Standard output of `gatewright explain`. */
async function explain(url: string): Promise<string> {
  return (await gatewright(['explain', '-f', folder.path, url])).stdout
}

test('explain shows the way of a connection', async () => {
  const through = await explain(`tls://first.wild.test:${ports.tls}`)
  expect(through).toContain('server name first.wild.test')
  expect(through).toContain(`listener  through of Gateway default/main, TLS 127.0.0.1:${ports.tls}, host *.wild.test`)
  expect(through).toContain('route     TLSRoute default/first, rule 0')
  expect(through).toMatch(/relayed {3}TLS unchanged, to 127.0.0.1:\d+/)
  expect(await explain(`https://first.wild.test:${ports.tls}/`)).toContain('TLSRoute default/first')
  expect(await explain(`tcp://127.0.0.1:${ports.empty}`)).toContain('closed    route not found (route-not-found)')
})

test.each(['tcp', 'http'])('explain shows that %s:// does not reach a port that expects TLS', async (scheme) => {
  const secured = scheme === 'tcp' ? 'tls' : 'https'
  expect(await explain(`${scheme}://first.wild.test:${ports.tls}`)).toMatch(
    new RegExp(`^port ${ports.tls} \\(.*\\) accepts only TLS connections; write ${secured}://\n$`),
  )
})
