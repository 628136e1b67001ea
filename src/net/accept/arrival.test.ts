import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import { Duplex } from 'node:stream'
import tls from 'node:tls'
import { afterEach, expect, test, vi } from 'vitest'
import { NO_PEER, type Peer } from '../peer.ts'
import { DRAIN_GRACE_MS } from '../served-connection.ts'
import type { Abort, RelayedConnection, RelayHandler } from '../stream.ts'
import { CERTIFICATES } from '../testing/certificates.ts'
import { FakeUpstream } from '../testing/fake-upstream.ts'
import { handClock } from '../testing/hand-clock.ts'
import { RawClient } from '../testing/raw-peers.ts'
import { answerWith, RecordingHandler } from '../testing/recording-handler.ts'
import { workerWheel } from '../timer-wheel.ts'
import { Arrival } from './arrival.ts'
import type { TlsChoice } from './listen-tls.ts'
import { type Listener, type ListenOptions, listen } from './listener.ts'

const time = handClock()
const cleanup: (() => unknown)[] = []

afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

const GET = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
const HEADER = 'PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n'

interface Rig {
  readonly listener: Listener
  /** `address raw-address` of each served connection, and the reasons of refusals. */
  readonly told: string[]
}

/** A listener that records its connections. */
async function serve(options: Partial<ListenOptions>): Promise<Rig> {
  const told: string[] = []
  const note = ({ remoteAddress, rawAddress }: Peer) => told.push(`${remoteAddress} ${rawAddress}`)
  const handler = new RecordingHandler((stream) => {
    note(stream.peer)
    answerWith(stream, 'ok')
  })
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    refused: (_, why) => told.push(why),
    ...options,
  })
  cleanup.push(() => listener.close())
  return { listener, told }
}

async function connect({ port }: Listener): Promise<RawClient> {
  const client = await RawClient.connect(port)
  cleanup.push(() => client.close())
  return client
}

const STRICT = { version: 'All', required: true } as const
const OPTIONAL = { version: 'All', required: false } as const

test('a PROXY header and the request in one segment', async () => {
  const { listener, told } = await serve({ proxyHeader: STRICT })
  const client = await connect(listener)
  client.send(HEADER + GET)
  expect(await client.untilEnd()).toContain('200 OK')
  expect(told).toEqual(['192.0.2.7 127.0.0.1'])
})

test('a PROXY header and the request byte by byte', async () => {
  const { listener, told } = await serve({ proxyHeader: STRICT })
  const client = await connect(listener)
  for (const byte of HEADER + GET) {
    client.send(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await client.untilEnd()).toContain('200 OK')
  expect(told).toEqual(['192.0.2.7 127.0.0.1'])
})

test('a client that ends its direction right after its request', async () => {
  const { listener } = await serve({ proxyHeader: OPTIONAL })
  for (const header of ['', HEADER]) {
    const client = await connect(listener)
    client.socket.end(header + GET)
    expect(await client.untilEnd()).toContain('200 OK')
  }
})

test.each([
  ['no header', GET, 'proxy-header-missing'],
  ['a malformed one', 'PROXY nonsense\r\n', 'proxy-header-malformed'],
])('%s where one is required: no byte is sent', async (_, text, why) => {
  const { listener, told } = await serve({ proxyHeader: STRICT })
  const client = await connect(listener)
  client.send(text)
  expect(await client.untilEnd()).toBe('')
  expect(told).toEqual([why])
  expect(listener.connections).toBe(0)
})

test('a client that connects and leaves is not reported', async () => {
  const { listener, told } = await serve({ proxyHeader: STRICT })
  const client = await connect(listener)
  client.socket.end()
  expect(await client.untilEnd()).toBe('')
  expect(told).toEqual([])
})

test('a client that sends nothing for 5 s is refused if a header is required, else served', async () => {
  const silent = await serve({ proxyHeader: STRICT })
  const partly = await serve({ proxyHeader: OPTIONAL })
  const patient = await serve({ proxyHeader: OPTIONAL })
  const clients = [
    await connect(silent.listener),
    await connect(partly.listener),
    await connect(patient.listener),
  ] as const
  clients[1].send('PROX')
  while (patient.listener.connections === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  time.skip(5200)
  expect(await clients[0].untilEnd()).toBe('')
  expect(await clients[1].untilEnd()).toBe('')
  expect([silent.told, partly.told]).toEqual([['proxy-header-timeout'], ['proxy-header-timeout']])
  clients[2].send(GET)
  expect(await clients[2].untilEnd()).toContain('200 OK')
  expect(patient.told).toEqual(['127.0.0.1 127.0.0.1'])
})

test('admission uses the announced address', async () => {
  const { listener, told } = await serve({
    proxyHeader: OPTIONAL,
    admit: ({ remoteAddress }) => remoteAddress === '192.0.2.7',
  })
  const stranger = await connect(listener)
  stranger.send(GET)
  expect(await stranger.untilEnd()).toBe('')
  const friend = await connect(listener)
  friend.send(HEADER + GET)
  expect(await friend.untilEnd()).toContain('200 OK')
  expect(told).toEqual(['192.0.2.7 127.0.0.1'])
})

const TERMINATED: TlsChoice = {
  context: tls.createSecureContext(CERTIFICATES.server),
  alpnProtocols: ['h2', 'http/1.1'],
  clientCertificate: 'none',
  carries: 'http',
}

test('a PROXY header precedes TLS', async () => {
  const { listener, told } = await serve({ proxyHeader: STRICT, traffic: { choose: () => TERMINATED } })
  const { socket } = await connect(listener)
  socket.removeAllListeners('data')
  socket.write(HEADER)
  const secured = tls.connect({ socket, servername: 'server.test', ca: CERTIFICATES.ca })
  await once(secured, 'secureConnect')
  const client = new RawClient(secured)
  client.send(GET)
  expect(await client.untilEnd()).toContain('200 OK')
  expect(told).toEqual(['192.0.2.7 127.0.0.1'])
})

test('draining closes connections before the end of their PROXY header or handshake', async () => {
  for (const options of [{ proxyHeader: STRICT }, { traffic: { choose: () => TERMINATED } }]) {
    const { listener } = await serve(options)
    const client = await connect(listener)
    while (listener.connections === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    const closed = listener.close({ drainMs: 60_000 })
    time.pass(workerWheel, DRAIN_GRACE_MS + 200)
    await closed
    expect(await client.untilEnd()).toBe('')
  }
})

test('bytes that arrive after the connection was closed are not refused', async () => {
  const refused = vi.fn()
  const socket = new Duplex({ read() {}, write() {} })
  socket.push('no handshake')
  const settings = {
    proxyHeader: undefined,
    handshakeTimeoutMs: 1000,
    admitsLate: false,
    wheel: workerWheel,
    admit: () => true,
    refused,
    secured: vi.fn(),
    over: vi.fn(),
  }
  const arrival = new Arrival(socket as net.Socket, NO_PEER, settings, { http: vi.fn(), bytes: vi.fn() })
  arrival.begin({ choose: () => 'unknown-name' })
  arrival.abort()
  await once(socket, 'close')
  expect(refused).not.toHaveBeenCalled()
})

// Relayed bytes.

/** Records connections and how they ended. */
class Relay implements RelayHandler {
  readonly upstream = new FakeUpstream()
  readonly closings: string[] = []
  serverName: string | undefined

  accepted(connection: RelayedConnection): void {
    this.serverName = connection.peer.serverName
    connection.tunnel(this.upstream)
  }

  closed(_: RelayedConnection, received: number, sent: number, why: Abort | undefined): void {
    this.closings.push(`${received} ${sent} ${why ?? 'in order'}`)
  }

  async got(text: string): Promise<void> {
    while (this.upstream.request.text !== text) await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

test('plain bytes are relayed both ways, and each direction ends separately', async () => {
  const relay = new Relay()
  const { listener } = await serve({ traffic: 'bytes', relay })
  const client = await connect(listener)
  client.send('question')
  await relay.got('question')
  relay.upstream.send('answer')
  relay.upstream.end()
  expect(await client.untilEnd()).toBe('answer')
  client.socket.end('!')
  await relay.got('question!')
  while (listener.connections > 0) await new Promise((resolve) => setTimeout(resolve, 1))
  expect(relay.closings).toEqual(['9 6 in order'])
})

test('terminated TLS that carries bytes', async () => {
  const relay = new Relay()
  const traffic = { choose: () => ({ ...TERMINATED, alpnProtocols: [], carries: 'bytes' }) as const }
  const { listener } = await serve({ traffic, relay })
  const socket = tls.connect({ port: listener.port, host: '127.0.0.1', servername: 'server.test', ca: CERTIFICATES.ca })
  cleanup.push(() => socket.destroy())
  await once(socket, 'secureConnect')
  socket.write('question')
  await relay.got('question')
  expect(relay.serverName).toBe('server.test')
  relay.upstream.send('answer')
  relay.upstream.end()
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toBe('answer')
})

test('TLS that is passed through is unchanged', async () => {
  const relay = new Relay()
  const { listener } = await serve({ traffic: { choose: () => 'passthrough' }, relay })
  const socket = tls.connect({ port: listener.port, host: '127.0.0.1', servername: 'server.test' })
  socket.on('error', () => {})
  cleanup.push(() => socket.destroy())
  while (relay.upstream.request.text === '') await new Promise((resolve) => setTimeout(resolve, 1))
  expect(relay.serverName).toBe('server.test')
  expect(relay.upstream.request.text.startsWith('\x16\x03\x01')).toBe(true)
  expect(relay.upstream.request.text).toContain('server.test')
})

test('an unknown server name is refused with an alert', async () => {
  const { listener, told } = await serve({ traffic: { choose: () => 'unknown-name' } })
  const socket = tls.connect({ port: listener.port, host: '127.0.0.1', servername: 'other.test' })
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  expect(error.code).toBe('ERR_SSL_TLSV1_UNRECOGNIZED_NAME')
  expect(told).toEqual(['server-name-unknown'])
})

test('where TLS is only passed through, an unknown server name ends the connection without an alert', async () => {
  const { listener, told } = await serve({ traffic: { choose: () => 'unknown-name-relayed' } })
  const socket = tls.connect({ port: listener.port, host: '127.0.0.1', servername: 'other.test' })
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  expect(error.code).toBe('ECONNRESET')
  expect(told).toEqual(['server-name-unknown'])
})

test('a listener without a usable certificate refuses with a code of its own', async () => {
  const { listener, told } = await serve({ traffic: { choose: () => 'no-certificate' } })
  const socket = tls.connect({ port: listener.port, host: '127.0.0.1', servername: 'server.test' })
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  expect(error.code).toBe('ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE')
  expect(told).toEqual(['certificate-missing'])
})

test.each([
  ['GET / HTTP/1.1\r\n\r\n', 'plain-http'],
  ['POST ', 'plain-http'],
  ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'plain-http'],
  ['SSH-2.0-x\r\n', 'client-hello-malformed'],
  ['\x16\x02', 'client-hello-malformed'],
])('%j without TLS on a port with TLS: %s', async (bytes, code) => {
  const { listener, told } = await serve({ traffic: { choose: () => 'unknown-name' } })
  const socket = net.connect({ port: listener.port, host: '127.0.0.1' }, () => socket.write(bytes, 'latin1'))
  socket.on('error', () => {})
  await once(socket, 'close')
  expect(told).toEqual([code])
})

// HTTP/2.

function askHttp2(port: number, secured: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const authority = `${secured ? 'https' : 'http'}://127.0.0.1:${port}`
    const client = http2.connect(authority, { servername: 'server.test', ca: CERTIFICATES.ca })
    client.on('error', reject)
    const stream = client.request({ ':path': '/', ':method': 'POST' })
    stream.end('x'.repeat(100_000))
    let text = ''
    stream.on('data', (bytes) => {
      text += bytes
    })
    stream.on('end', () => {
      client.close()
      resolve(text)
    })
  })
}

test.each([
  ['plain', {}],
  ['under TLS', { traffic: { choose: () => TERMINATED } }],
  ['behind a PROXY header that is optional', { proxyHeader: OPTIONAL }],
])('HTTP/2 is passed to its handler: %s', async (_, options: Partial<ListenOptions>) => {
  const { listener } = await serve(options)
  expect(await askHttp2(listener.port, options.traffic !== undefined)).toBe('ok')
  const client = options.traffic === undefined ? await connect(listener) : undefined
  client?.send(GET)
  if (client !== undefined) expect(await client.untilEnd()).toContain('200 OK')
  client?.close()
  while (listener.connections > 0) await new Promise((resolve) => setTimeout(resolve, 1))
})

test('the preface of HTTP/2 byte by byte', async () => {
  const { listener } = await serve({})
  const client = await connect(listener)
  const settings = '\0\0\0\x04\0\0\0\0\0'
  for (const byte of `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${settings}`) {
    client.send(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await client.until((text) => text.includes('\x04\x01\0\0\0\0'))
})

test('HTTP/2 after an HTTP/1 request is an unknown version', async () => {
  const { listener } = await serve({})
  const client = await connect(listener)
  client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  expect(await client.untilEnd()).toContain('505')
})

test('a client that resets its connection before the first byte', async () => {
  const { listener } = await serve({ proxyHeader: OPTIONAL })
  const socket = net.connect(listener.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.resetAndDestroy()
  while (listener.connections > 0) await new Promise((resolve) => setTimeout(resolve, 1))
})
