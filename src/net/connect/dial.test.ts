import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { verifies } from '#test/support/verifies.ts'
import { DEFAULT_BOUNDS, type Destination, type DestinationTls } from '../destination.ts'
import type { ConnectFailure, ConnectFailureCode } from '../failure.ts'
import { CERTIFICATES } from '../testing/certificates.ts'
import { CORRUPT_RECORD, WireTap } from '../testing/wire-tap.ts'
import { TimerWheel } from '../timer-wheel.ts'
import { STREAM_TRANSPORTS } from '../transport/stream-transports.ts'
import type { Transport } from '../transport/transport.ts'
import { Connector } from './connector.ts'
import { Dial, dialContext } from './dial.ts'
import { dialTransport } from './dial-transport.ts'
import { ForwardRules } from './forward-rules.ts'
import { type Lookup, Names } from './names.ts'
import type { ConnectTransport } from './pool-settings.ts'

const cleanup: (() => unknown)[] = []

afterEach(() => {
  for (const undo of cleanup.splice(0)) undo()
})

interface Dialled {
  transport: Transport | null
  why: ConnectFailureCode | undefined
  detail: string | undefined
  /** Bytes received before the peer ended. */
  text: Promise<string>
}

function dial(destination: Destination, context = dialContext(destination)): Promise<Dialled> {
  return new Promise((resolve) => {
    let text = ''
    let ended: (text: string) => void = () => {}
    const all = new Promise<string>((done) => {
      ended = done
    })
    const owner = {
      bytes: (buffer: Buffer, start: number, end: number) => {
        text += buffer.latin1Slice(start, end)
      },
      ended: () => ended(text),
      drained: () => {},
      closed: () => ended(text),
    }
    const done = (transport: Transport | null, failure: ConnectFailure | null) => {
      if (transport !== null) cleanup.push(() => transport.destroy())
      resolve({ transport, why: failure?.code, detail: failure?.detail, text: all })
    }
    dialTransport(destination, context, { connector: connectorFor(destination), owner, done })
  })
}

function connectorFor(destination: Destination): Connector {
  const connector = new Connector({
    wheel: new TimerWheel(),
    lookup: (host, done) => lookup(host, done),
    transports: STREAM_TRANSPORTS,
    forwardRules: new ForwardRules(),
    mesh: { material: undefined },
    idleTimeoutMs: 90_000,
    connected: (transport, durationMs) => connected.push([transport, durationMs]),
    exhausted: (cause) => exhausted.push(cause),
  })
  connector.reserve(destination)
  return connector
}

async function serving(server: net.Server, host = '127.0.0.1', port = 0): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  cleanup.push(() => server.close())
  return (server.address() as net.AddressInfo).port
}

/** Sends its name and ends. */
const saying = (name: string) => net.createServer((socket) => socket.end(name))

function to(host: string, port: number, more: Partial<Destination> = {}): Destination {
  return { key: 'k', host, port, connectTimeoutMs: 3000, ...more }
}

/** Connections that were opened. */
const connected: [transport: ConnectTransport, durationMs: number][] = []

/** Causes of connections for which the system had no resources. */
const exhausted: (string | undefined)[] = []

/** Answers of the resolver; tests replace it. */
let lookup: Lookup

beforeEach(() => {
  connected.length = 0
  exhausted.length = 0
  lookup = () => {
    throw new Error('no lookup was expected')
  }
})

function resolvingTo(...addresses: string[]): void {
  lookup = (_, done) => process.nextTick(done, null, addresses)
}

test('connects to an address', async () => {
  const port = await serving(saying('one'))
  const { transport, text } = await dial(to('127.0.0.1', port))
  expect(transport).not.toBeNull()
  expect(await text).toBe('one')
})

verifies(
  'backend.tcp/keepalive',
  'keepalive is set as configured for the destination, also before TLS, else with the defaults',
  async () => {
    const set = vi.spyOn(net.Socket.prototype, 'setKeepAlive')
    const plain = await serving(saying('one'))
    const secure = await serving(tls.createServer(CERTIFICATES.server, (socket) => socket.end('two')))
    const keepalive = { timeMs: 60_000, intervalMs: 5000, retries: 3 }
    expect(await (await dial(to('127.0.0.1', plain, { keepalive }))).text).toBe('one')
    expect(await (await dial(to('127.0.0.1', secure, { keepalive, tls: withTls() }))).text).toBe('two')
    expect(await (await dial(to('127.0.0.1', plain))).text).toBe('one')
    const written = [true, 60_000, 5000, 3]
    expect(set.mock.calls).toEqual([written, written, [true, 180_000, 180_000, 9]])
  },
)

test('a connection for which the system has no files is reported with its cause', async () => {
  const socket = new net.Socket()
  vi.spyOn(net, 'connect').mockReturnValueOnce(socket)
  queueMicrotask(() => socket.destroy(Object.assign(new Error('connect EMFILE 127.0.0.1:1'), { code: 'EMFILE' })))
  expect(await dial(to('127.0.0.1', 1))).toMatchObject({ why: 'resources-exhausted' })
  expect(exhausted).toEqual(['connect EMFILE 127.0.0.1:1'])
})

test('an opened connection is reported with its transport and the time that it took; a failed one is not', async () => {
  const plain = await serving(saying('one'))
  const secure = await serving(tls.createServer(CERTIFICATES.server, (socket) => socket.end('two')))
  const proxy = http.createServer().on('connect', ({ url }, socket) => {
    const server = net.connect(Number(url!.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      server.pipe(socket).pipe(server)
    })
    for (const end of [socket, server]) end.on('error', () => {})
  })
  const proxies = [to('127.0.0.1', await serving(proxy))]
  const tunnel = { mode: 'connect', proxies, authorization: undefined } as const
  await dial(to('127.0.0.1', plain))
  await dial(to('127.0.0.1', secure, { tls: withTls() }))
  await dial(to('127.0.0.1', plain, { tunnel }))
  await dial(to('127.0.0.1', secure, { tls: withTls(), tunnel }))
  expect((await dial(to('127.0.0.1', secure, { tls: withTls({ serverName: 'other.test' }) }))).transport).toBeNull()
  expect(connected.map(([transport]) => transport)).toEqual(['plaintext', 'tls', 'tunnel', 'tunnel-tls'])
  for (const [, durationMs] of connected) expect(durationMs).toBeGreaterThan(0)
})

test('tries all addresses of a name in turn', async () => {
  const port = await serving(saying('second'), '127.0.0.2')
  resolvingTo('127.0.0.3', '127.0.0.2')
  const { text } = await dial(to('name.test', port))
  expect(await text).toBe('second')
})

test('an address that does not respond leaves time for the next ones', async () => {
  const silent = net.createServer({ pauseOnConnect: true }, () => {})
  const port = await serving(silent, '127.0.0.3')
  const secure = tls.createServer(CERTIFICATES.server, (socket) => socket.end('second'))
  await serving(secure, '127.0.0.2', port)
  resolvingTo('127.0.0.3', '127.0.0.2')
  const { text } = await dial(to('server.test', port, { tls: withTls(), connectTimeoutMs: 1500 }))
  expect(await text).toBe('second')
})

test('fails when the port is closed', async () => {
  const server = saying('')
  const port = await serving(server)
  server.close()
  const detail = `127.0.0.1:${port}`
  expect(await dial(to('127.0.0.1', port))).toMatchObject({ transport: null, why: 'connection-refused', detail })
  const unixPath = '/nowhere/socket'
  expect(await dial(to('', 0, { unixPath }))).toMatchObject({
    why: 'connection-refused',
    detail: 'the socket does not exist: /nowhere/socket',
  })
  // This file exists and is no socket.
  const file = import.meta.filename
  expect(await dial(to('', 0, { unixPath: file }))).toMatchObject({
    why: 'connection-refused',
    detail: `no server listens on the socket: ${file}`,
  })
})

test('of several addresses, the failure of the last is reported', async () => {
  const server = saying('')
  const port = await serving(server)
  server.close()
  resolvingTo('127.0.0.3', '127.0.0.2')
  expect(await dial(to('name.test', port))).toMatchObject({ detail: `127.0.0.2:${port}` })
})

test.each([
  ['ENOTFOUND', 'name-unknown'],
  ['ENODATA', 'name-unknown'],
  ['EAI_AGAIN', 'name-lookup-failed'],
  ['EAI_FAIL', 'name-lookup-failed'],
])('fails when the resolver reports %s', async (code, why) => {
  const error = Object.assign(new Error(`getaddrinfo ${code} name.test`), { code })
  lookup = (_, done) => process.nextTick(done, error, [])
  expect(await dial(to('name.test', 80))).toMatchObject({ why, detail: `getaddrinfo ${code} name.test` })
})

test('fails when the resolver finds nothing', async () => {
  resolvingTo()
  expect(await dial(to('name.test', 80))).toMatchObject({
    why: 'name-unknown',
    detail: 'no addresses found for name.test',
  })
})

verifies('backend.tcp/connectTimeout', 'the time limit covers the handshake', async () => {
  const port = await serving(net.createServer())
  const result = await dial(to('127.0.0.1', port, { tls: withTls(), connectTimeoutMs: 100 }))
  expect(result).toMatchObject({ transport: null, why: 'connect-timeout', detail: 'no connection within 100 ms' })
})

test('a cancelled dial reports nothing', async () => {
  const port = await serving(saying('one'))
  const done = vi.fn()
  const owner = { bytes: () => {}, ended: () => {}, drained: () => {}, closed: () => {} }
  const destination = to('127.0.0.1', port)
  dialTransport(destination, dialContext(destination), {
    connector: connectorFor(destination),
    owner,
    done,
  }).cancel()
  await (await dial(destination)).text
  expect(done).not.toHaveBeenCalled()
})

test('a dial that has failed gives its connection back once, also when it is then cancelled', async () => {
  const destination = to('127.0.0.1', 1, { bounds: { ...DEFAULT_BOUNDS, maxConnections: 1 } })
  const connector = connectorFor(destination)
  expect(connector.reserve(destination)).toBe(false)
  const failed = Promise.withResolvers<void>()
  const owner = { bytes: () => {}, ended: () => {}, drained: () => {}, closed: () => {} }
  const pending = dialTransport(destination, dialContext(destination), {
    connector,
    owner,
    done: () => failed.resolve(),
  })
  await failed.promise
  expect(connector.reserve(destination)).toBe(true)
  pending.cancel()
  expect(connector.reserve(destination)).toBe(false)
})

test('a dial that is cancelled before its name is resolved opens no connection', () => {
  const connect = vi.spyOn(net, 'connect')
  const wheel = new TimerWheel()
  const done = vi.fn()
  let answer = () => {}
  const names = new Names(wheel, (_, answered) => {
    answer = () => answered(null, ['127.0.0.1'])
  })
  const destination = to('name.test', 80)
  new Dial(destination, dialContext(destination), { wheel, names, done }).cancel()
  answer()
  expect(connect).not.toHaveBeenCalled()
  expect(done).not.toHaveBeenCalled()
})

function withTls(settings: Partial<DestinationTls> = {}): DestinationTls {
  return {
    serverName: undefined,
    ca: CERTIFICATES.ca,
    cert: undefined,
    key: undefined,
    verify: 'full',
    alpn: undefined,
    ...settings,
  }
}

async function tlsServer(options: tls.TlsOptions = {}): Promise<number> {
  const server = tls.createServer({ ...CERTIFICATES.server, ...options }, (socket) => {
    const client = socket.getPeerCertificate().subject?.CN ?? 'nobody'
    socket.end(`${socket.servername || 'unnamed'} ${client} ${socket.alpnProtocol} ${socket.isSessionReused()}`)
  })
  server.on('tlsClientError', () => {})
  return serving(server)
}

test.each<[what: string, host: string, settings: Partial<DestinationTls>, expected: string]>([
  ['an address in the certificate', '127.0.0.1', {}, 'unnamed nobody false false'],
  ['a server name in the certificate', '127.0.0.1', { serverName: 'server.test' }, 'server.test nobody false false'],
  ['a wildcard', '127.0.0.1', { serverName: 'a.wild.test' }, 'a.wild.test nobody false false'],
  ['another name', '127.0.0.1', { serverName: 'other.test' }, 'certificate-name'],
  [
    'another name, chain only',
    '127.0.0.1',
    { serverName: 'other.test', verify: 'chain-only' },
    'other.test nobody false false',
  ],
  ['an unknown authority', '127.0.0.1', { ca: undefined }, 'certificate-untrusted'],
  ['an unknown authority, chain only', '127.0.0.1', { ca: undefined, verify: 'chain-only' }, 'certificate-untrusted'],
  ['nothing verified', '127.0.0.1', { ca: undefined, verify: 'none' }, 'unnamed nobody false false'],
  ['ALPN', '127.0.0.1', { alpn: ['h2', 'http/1.1'] }, 'unnamed nobody h2 false'],
  ['a client certificate', '127.0.0.1', CERTIFICATES.client, 'unnamed client.test false false'],
])('TLS: %s', async (_, host, settings, expected) => {
  const port = await tlsServer({ requestCert: true, rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'] })
  const { transport, why, text } = await dial(to(host, port, { tls: withTls({ alpn: [], ...settings }) }))
  if (transport === null) expect(why).toBe(expected)
  else expect(await text).toBe(expected)
})

test('TLS: a certificate that has expired', async () => {
  const port = await tlsServer(CERTIFICATES.expired)
  const { why, detail } = await dial(to('127.0.0.1', port, { tls: withTls({ ca: CERTIFICATES.expired.cert }) }))
  expect([why, detail]).toEqual(['certificate-expired', 'certificate has expired'])
})

test('a server without TLS', async () => {
  const port = await serving(
    net.createServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 X\r\n\r\n'))),
  )
  const { why, detail } = await dial(to('127.0.0.1', port, { tls: withTls() }))
  expect(why).toBe('handshake-failed')
  expect(detail).toMatch(/^(?:wrong version number|packet length too long)$/)
})

const SPIFFE = 'spiffe://cluster.test/ns/default/sa/web'
const accepted: [names: string[], connects: boolean][] = [
  [[SPIFFE], true],
  [['other.test', SPIFFE], true],
  [['workload.test'], true],
  [['WORKLOAD.test'], true],
  [['127.0.0.9'], true],
  [['127.0.0.1'], false],
  [['common.test'], false],
  [['spiffe://cluster.test/ns/default/sa'], false],
  [['cluster.test'], false],
]
verifies('backend.tls/verifySubjectAltNames', 'TLS: a certificate must have one of the names', async () => {
  const port = await tlsServer(CERTIFICATES.workload)
  for (const [subjectAltNames, connects] of accepted) {
    // The list replaces the host.
    const settings = withTls({ ca: CERTIFICATES.workload.cert, serverName: 'whatever.test', subjectAltNames })
    const { transport, why } = await dial(to('127.0.0.1', port, { tls: settings }))
    expect(transport !== null, subjectAltNames.join()).toBe(connects)
    expect(why).toBe(connects ? undefined : 'certificate-name')
  }
})

test('TLS: an accepted name does not make an unknown authority valid', async () => {
  const port = await tlsServer(CERTIFICATES.workload)
  const { transport } = await dial(to('127.0.0.1', port, { tls: withTls({ subjectAltNames: [SPIFFE] }) }))
  expect(transport).toBeNull()
})

const groupsOffered: [groups: string, ofServer: string, connects: boolean][] = [
  ['X25519MLKEM768', 'X25519MLKEM768:X25519', true],
  ['X25519/P-384', 'P-384', true],
  ['X25519', 'P-384', false],
]
verifies('backend.tls/keyExchangeGroups', 'TLS: only the listed key exchange groups are offered', async () => {
  for (const [groups, ecdhCurve, connects] of groupsOffered) {
    const port = await tlsServer({ ecdhCurve, minVersion: 'TLSv1.3' })
    const { transport } = await dial(to('127.0.0.1', port, { tls: withTls({ groups }) }))
    expect(transport !== null, `${groups} with ${ecdhCurve}`).toBe(connects)
  }
})

test('TLS: the first common group of our list is selected', async () => {
  const port = await tlsServer({ ecdhCurve: 'X25519:P-256', minVersion: 'TLSv1.3' })
  for (const [groups, taken] of [
    ['P-256/X25519', 'P-256'],
    ['X25519/P-256', 'X25519'],
  ] as const) {
    const destination = to('127.0.0.1', port, { tls: withTls({ groups }) })
    const socket = await new Promise<tls.TLSSocket>((resolve) => {
      const done = (connected: net.Socket | null) => resolve(connected as tls.TLSSocket)
      new Dial(destination, dialContext(destination), {
        wheel: new TimerWheel(),
        names: new Names(new TimerWheel(), lookup),
        done,
      })
    })
    expect(socket.getEphemeralKeyInfo()).toMatchObject({ name: taken === 'P-256' ? 'prime256v1' : taken })
    socket.destroy()
  }
})

test('TLS: the certificate is presented to a server that asks for it', async () => {
  const port = await tlsServer({ requestCert: true, ca: CERTIFICATES.ca })
  const { text } = await dial(to('127.0.0.1', port, { tls: withTls(CERTIFICATES.client) }))
  expect(await text).toBe('unnamed client.test false false')
})

test('TLS: without a certificate none is presented', async () => {
  const port = await tlsServer({ requestCert: true, rejectUnauthorized: false })
  const { text } = await dial(to('127.0.0.1', port, { tls: withTls() }))
  expect(await text).toBe('unnamed nobody false false')
})

verifies('backend.tls/sni', 'TLS: the configured server name takes precedence over the destination', async () => {
  const port = await tlsServer()
  resolvingTo('127.0.0.1')
  const settings = withTls({ serverName: 'a.wild.test' })
  const { text } = await dial(to('server.test', port, { tls: settings }))
  expect(await text).toBe('a.wild.test nobody false false')
})

verifies(
  'tls/versions',
  'TLS 1.2 and 1.3 are accepted from servers, whatever the runtime allows; older versions are not',
  async () => {
    const least = tls.DEFAULT_MIN_VERSION
    onTestFinished(() => {
      tls.DEFAULT_MIN_VERSION = least
    })
    tls.DEFAULT_MIN_VERSION = 'TLSv1.3'
    for (const [version, connects] of [
      ['TLSv1.3', true],
      ['TLSv1.2', true],
      ['TLSv1.1', false],
    ] as const) {
      const port = await tlsServer({ minVersion: version, maxVersion: version, ciphers: 'ALL:@SECLEVEL=0' })
      const { transport } = await dial(to('127.0.0.1', port, { tls: withTls() }))
      expect(transport !== null, version).toBe(connects)
    }
  },
)

verifies('backend.tls/sni-default', 'TLS: the name of the destination is the server name', async () => {
  const port = await tlsServer()
  resolvingTo('127.0.0.1')
  const { text } = await dial(to('server.test', port, { tls: withTls() }))
  expect(await text).toBe('server.test nobody false false')
})

test('TLS on a Unix socket: the certificate must be for sni, else for localhost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dial-'))
  const unixPath = join(folder, 's')
  const server = tls.createServer(CERTIFICATES.server, (socket) => socket.end(socket.servername || 'unnamed'))
  server.on('tlsClientError', () => {})
  server.listen(unixPath)
  await once(server, 'listening')
  cleanup.push(
    () => server.close(),
    () => rmSync(folder, { recursive: true, force: true }),
  )
  const over = (settings: Partial<DestinationTls>) => dial(to('', 0, { unixPath, tls: withTls(settings) }))
  expect(await (await over({ serverName: 'server.test' })).text).toBe('server.test')
  const { why, detail } = await over({})
  expect([why, detail]).toEqual(['certificate-name', expect.stringContaining('localhost')])
  expect(await (await over({ subjectAltNames: ['server.test'] })).text).toBe('unnamed')
})

test('TLS: sessions are resumed', async () => {
  const port = await tlsServer()
  const destination = to('127.0.0.1', port, { tls: withTls() })
  const context = dialContext(destination)
  expect(await (await dial(destination, context)).text).toMatch(/false$/)
  expect(context.session).toBeDefined()
  expect(await (await dial(destination, context)).text).toMatch(/true$/)
})

test('TLS: unusable key material fails asynchronously, without a connection', async () => {
  let connections = 0
  const port = await serving(net.createServer(() => connections++))
  const destination = to('127.0.0.1', port, { tls: withTls({ cert: 'x', key: 'y' }) })
  const done = vi.fn()
  new Dial(destination, dialContext(destination), {
    wheel: new TimerWheel(),
    names: new Names(new TimerWheel(), lookup),
    done,
  })
  expect(done).not.toHaveBeenCalled()
  expect(await dial(destination)).toMatchObject({ transport: null, why: 'tls-settings-unusable' })
  expect(done.mock.calls).toMatchObject([[null, { code: 'tls-settings-unusable' }, undefined]])
  expect(connections).toBe(0)
})

/** A server that sends nothing. */
async function silentServer(options: tls.TlsOptions = {}): Promise<{ port: number; client: Promise<tls.TLSSocket> }> {
  const { promise, resolve } = Promise.withResolvers<tls.TLSSocket>()
  const server = tls.createServer({ ...CERTIFICATES.server, ...options }, (socket) => {
    socket.on('error', () => {})
    resolve(socket)
    cleanup.push(() => socket.destroy())
  })
  return { port: await serving(server), client: promise }
}

test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s: an invalid record ends the connection', async (maxVersion) => {
  const { port } = await silentServer({ maxVersion })
  const tap = await WireTap.start(port)
  cleanup.push(() => tap.close())
  const { transport, text } = await dial(to('127.0.0.1', tap.port, { tls: withTls() }))
  expect(transport!.usable).toBe(true)
  await tap.addToClient(CORRUPT_RECORD)
  expect(await text).toBe('')
  expect(transport!.usable).toBe(false)
})

test('a second handshake with a server that renegotiates is refused', async () => {
  const { port, client } = await silentServer({ maxVersion: 'TLSv1.2' })
  const { transport } = await dial(to('127.0.0.1', port, { tls: withTls() }))
  expect(transport).not.toBeNull()
  const socket = await client
  let renegotiated = false
  socket.on('secure', () => {
    renegotiated = true
  })
  socket.renegotiate({}, () => {})
  await expect(once(socket, 'close')).rejects.toThrow('no renegotiation')
  expect(renegotiated).toBe(false)
})

/** Sockets that the test opens and events that it emits, instead of those of the system. */
function scriptedSockets() {
  const opened = new Map<string, net.Socket>()
  vi.spyOn(net, 'connect').mockImplementation(((options: net.TcpNetConnectOpts) => {
    const socket = new net.Socket()
    opened.set(options.host!, socket)
    return socket
  }) as unknown as typeof net.connect)
  return opened
}

function dialNamed(
  found: readonly string[] | ((answered: Parameters<Lookup>[1]) => void),
  refuse?: (address: string) => string | undefined,
) {
  let now = 1000
  vi.spyOn(clock, 'monotonic').mockImplementation(() => now)
  const wheel = new TimerWheel()
  const opened = scriptedSockets()
  const done = vi.fn()
  const destination = to('name.test', 80)
  const names = new Names(new TimerWheel(), (_, answered) => {
    if (typeof found === 'function') found(answered)
    else answered(null, found)
  })
  new Dial(destination, dialContext(destination), { wheel, names, done, refuse })
  const pass = (ms: number) => {
    now += ms
    wheel.advance()
  }
  return { opened, done, pass, tried: () => [...opened.keys()] }
}

test('an address that does not respond is raced by the next one, families in turn', () => {
  const { opened, done, pass, tried } = dialNamed(['2001:db8::1', '2001:db8::2', '192.0.2.1'])
  expect(tried()).toEqual(['2001:db8::1'])
  pass(150)
  expect(tried()).toEqual(['2001:db8::1'])
  pass(250)
  expect(tried()).toEqual(['2001:db8::1', '192.0.2.1'])
  opened.get('192.0.2.1')!.emit('connect')
  expect(done.mock.calls[0]![0]).toBe(opened.get('192.0.2.1'))
  expect(opened.get('2001:db8::1')!.destroyed).toBe(true)
  expect(opened.get('192.0.2.1')!.destroyed).toBe(false)
  pass(5000)
  expect(tried()).toHaveLength(2)
})

test('a slow address may still win, and a failed one is followed at once', () => {
  const { opened, done, pass, tried } = dialNamed(['192.0.2.1', '192.0.2.2', '192.0.2.3'])
  pass(400)
  opened.get('192.0.2.2')!.emit('error', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
  expect(tried()).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3'])
  opened.get('192.0.2.1')!.emit('connect')
  expect(done.mock.calls[0]![0]).toBe(opened.get('192.0.2.1'))
  expect(opened.get('192.0.2.3')!.destroyed).toBe(true)
})

test('the dial fails only when every address has failed', () => {
  const { opened, done, pass } = dialNamed(['192.0.2.1', '192.0.2.2'])
  pass(400)
  opened.get('192.0.2.2')!.emit('error', new Error('second'))
  expect(done).not.toHaveBeenCalled()
  opened.get('192.0.2.1')!.emit('error', new Error('first'))
  expect(done.mock.calls[0]![1]).toEqual({ code: 'connect-failed', detail: 'first' })
})

test('a late family joins the addresses that are being tried, and each is tried once', () => {
  const rest = { answer: () => {} }
  const { opened, done, pass, tried } = dialNamed((answered) => {
    answered(null, ['2001:db8::1'], 1000, 'late')
    rest.answer = () => answered(null, ['2001:db8::1', '192.0.2.1'], 1000)
  })
  pass(400)
  expect(tried()).toEqual(['2001:db8::1'])
  rest.answer()
  expect(tried()).toEqual(['2001:db8::1'])
  pass(400)
  expect(tried()).toEqual(['2001:db8::1', '192.0.2.1'])
  opened.get('192.0.2.1')!.emit('connect')
  expect(done.mock.calls[0]![0]).toBe(opened.get('192.0.2.1'))
})

test.each([
  ['has an address', ['2001:db8::1', '192.0.2.1'], ['2001:db8::1', '192.0.2.1'], undefined],
  ['has none', ['2001:db8::1'], ['2001:db8::1'], 'no route'],
] as const)(
  'when the first family has failed, the late one is waited for, and %s',
  async (_, all, expected, detail) => {
    const rest = { answer: () => {} }
    const { opened, done, tried } = dialNamed((answered) => {
      answered(null, ['2001:db8::1'], 1000, 'late')
      rest.answer = () => answered(null, all, 1000)
    })
    opened.get('2001:db8::1')!.emit('error', new Error('no route'))
    expect(done).not.toHaveBeenCalled()
    rest.answer()
    await new Promise((resolve) => process.nextTick(resolve))
    expect(tried()).toEqual(expected)
    expect(done.mock.calls[0]?.[1]?.detail).toBe(detail)
  },
)

test('addresses that must not be dialled are skipped; if there are no others, the dial fails', async () => {
  const refuse = (address: string) => (address.startsWith('127.') ? `${address} is a loopback address` : undefined)
  expect(dialNamed(['127.0.0.1', '192.0.2.2'], refuse).tried()).toEqual(['192.0.2.2'])
  vi.restoreAllMocks()
  const { done, tried } = dialNamed(['127.0.0.1'], refuse)
  await new Promise((resolve) => process.nextTick(resolve))
  expect(tried()).toEqual([])
  const failure = { code: 'address-not-allowed', detail: '127.0.0.1 is a loopback address' }
  expect(done.mock.calls[0]![1]).toEqual(failure)
})

test('servers see one handshake: while one address negotiates TLS, the others are left', async () => {
  const held: net.Socket[] = []
  const port = await serving(
    net.createServer((socket) => held.push(socket)),
    '127.0.0.3',
  )
  let others = 0
  await serving(
    net.createServer((socket) => {
      others++
      socket.destroy()
    }),
    '127.0.0.2',
    port,
  )
  resolvingTo('127.0.0.3', '127.0.0.2')
  const dialled = dial(to('server.test', port, { tls: withTls(), connectTimeoutMs: 6000 }))
  await vi.waitFor(() => expect(held).toHaveLength(1))
  await new Promise((resolve) => setTimeout(resolve, 600))
  expect(others).toBe(0)
  held[0]!.destroy()
  await vi.waitFor(() => expect(others).toBe(1))
  expect((await dialled).why).toBe('handshake-failed')
})
