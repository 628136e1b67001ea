import { once } from 'node:events'
import type net from 'node:net'
import tls from 'node:tls'
import { afterEach, expect, test, vi } from 'vitest'
import type { Destination } from '../destination.ts'
import type { ConnectFailureCode } from '../failure.ts'
import { createClientPool } from '../pool/client-pool.ts'
import type { Abort, BodySink, BodySource, ClientPool, ClientStream, ConnectHandler } from '../stream.ts'
import { CERTIFICATES } from '../testing/certificates.ts'
import { type Accepted, destinationOf, RawServer } from '../testing/raw-peers.ts'
import { wireTransports } from '../testing/wire-transports.ts'

const cleanup: (() => unknown)[] = []

afterEach(() => {
  for (const undo of cleanup.splice(0)) undo()
})

/** Records received bytes; backed up after `limit` bytes until released. */
class Collected implements BodySink {
  readonly takesFramed = false
  source: BodySource | null = null
  text = ''
  ended = false
  why: Abort | undefined
  limit: number
  #waiting: () => void = () => {}

  constructor(limit = Number.POSITIVE_INFINITY) {
    this.limit = limit
  }

  get backed(): boolean {
    return this.text.length >= this.limit
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    this.text += buffer.latin1Slice(start, end)
    this.#waiting()
  }

  end(): void {
    this.ended = true
    this.#waiting()
  }

  abort(why: Abort): void {
    this.why = why
    this.#waiting()
  }

  async until(check: () => boolean): Promise<void> {
    while (!check()) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve
      })
    }
  }
}

interface Outcome {
  readonly stream: ClientStream
  readonly connected: boolean
  readonly why: ConnectFailureCode | undefined
  /** Resolves when the connection is reported as broken. */
  readonly broken: Promise<Abort>
}

function connect(
  destination: Destination,
  pool: ClientPool = createClientPool({ transports: wireTransports() }),
): Promise<Outcome> {
  cleanup.push(() => pool.close())
  return new Promise((resolve) => {
    let breaks: (why: Abort) => void = () => {}
    const broken = new Promise<Abort>((done) => {
      breaks = done
    })
    const handler: ConnectHandler = {
      connected: (stream) => {
        cleanup.push(() => stream.cancel())
        resolve({ stream, connected: true, why: undefined, broken })
      },
      failed: (stream, { code: why }) => resolve({ stream, connected: false, why, broken }),
      broken: (_, why) => breaks(why),
    }
    pool.connect(destination, handler, 'mine')
  })
}

async function serve(accept: (peer: Accepted) => void): Promise<RawServer> {
  const server = await new RawServer(accept).start()
  cleanup.push(() => server.close())
  return server
}

function say({ request }: ClientStream, text: string): void {
  const bytes = Buffer.from(text, 'latin1')
  request.bytes(bytes, 0, bytes.length)
}

function listenTo(stream: ClientStream, limit?: number): Collected {
  const sink = new Collected(limit)
  stream.body.pipe(sink)
  return sink
}

test('bytes flow both ways, and our end leaves the other direction open', async () => {
  const server = await serve(async (peer) => {
    await peer.untilEnd()
    peer.send(`got ${peer.text}`)
    peer.socket.end()
  })
  const { stream } = await connect(server.destination)
  expect(stream.context).toBe('mine')
  const sink = listenTo(stream)
  say(stream, 'hello')
  stream.request.end()
  await sink.until(() => sink.ended)
  expect(sink.text).toBe('got hello')
})

test('the end of the server leaves our direction open', async () => {
  const got = Promise.withResolvers<string>()
  const server = await serve(async (peer) => {
    peer.socket.end('bye')
    got.resolve(await peer.untilEnd())
  })
  const { stream } = await connect(server.destination)
  const sink = listenTo(stream)
  await sink.until(() => sink.ended)
  say(stream, 'late words')
  stream.request.end()
  expect(await got.promise).toBe('late words')
  expect(sink.text).toBe('bye')
})

test('bytes of a server that sends first reach a receiver attached later', async () => {
  const server = await serve((peer) => peer.socket.end('220 ready'))
  const { stream } = await connect(server.destination)
  await new Promise((resolve) => setTimeout(resolve, 30))
  const sink = listenTo(stream)
  await sink.until(() => sink.ended)
  expect(sink.text).toBe('220 ready')
})

test('nothing is read while the receiver is full, and nothing is lost', async () => {
  const size = 20_000_000
  let accepted: Accepted | undefined
  const server = await serve((peer) => {
    accepted = peer
    peer.send('x'.repeat(size))
    peer.socket.end()
  })
  const { stream } = await connect(server.destination)
  const sink = listenTo(stream, 1)
  await sink.until(() => sink.backed)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(sink.text.length).toBeLessThanOrEqual(131_072)
  expect(accepted!.socket.writableLength).toBeGreaterThan(0)
  sink.limit = Number.POSITIVE_INFINITY
  sink.source?.resume()
  await sink.until(() => sink.ended)
  expect(sink.text.length).toBe(size)
})

test('the source waits while the server does not read', async () => {
  const server = await serve((peer) => peer.socket.pause())
  const { stream } = await connect(server.destination)
  listenTo(stream)
  const piece = Buffer.alloc(65_536)
  let sent = 0
  while (!stream.request.backed && sent < 1e9) {
    stream.request.bytes(piece, 0, piece.length)
    sent += piece.length
  }
  expect(stream.request.backed).toBe(true)
})

test('a broken connection is not an orderly end', async () => {
  const server = await serve((peer) => peer.socket.once('data', () => peer.socket.resetAndDestroy()))
  const { stream } = await connect(server.destination)
  const sink = listenTo(stream)
  say(stream, 'hello')
  await sink.until(() => sink.why !== undefined)
  expect([sink.why, sink.ended]).toEqual(['reset', false])
})

test('a connection that breaks after the end of its body is reported as broken', async () => {
  let peer: Accepted | undefined
  const server = await serve((accepted) => {
    peer = accepted
    accepted.socket.end('bye')
  })
  const { stream, broken } = await connect(server.destination)
  const sink = listenTo(stream)
  await sink.until(() => sink.ended)
  peer!.close()
  const timer = setInterval(() => say(stream, 'more'), 5)
  expect(await broken).toBe('reset')
  clearInterval(timer)
})

test('a cancel is not an orderly end for the server', async () => {
  const seen = Promise.withResolvers<boolean>()
  const server = await serve(async (peer) => {
    await peer.untilClosed()
    seen.resolve(peer.wasReset)
  })
  const { stream } = await connect(server.destination)
  const sink = listenTo(stream)
  say(stream, 'half of')
  stream.request.abort('reset')
  expect(await seen.promise).toBe(true)
  expect(sink.why).toBe('reset')
})

test('a closed port', async () => {
  const server = await serve(() => {})
  const { port } = server
  server.close()
  expect(await connect(destinationOf(port))).toMatchObject({ connected: false, why: 'connection-refused' })
})

test('a cancel before the connection is established reports nothing', async () => {
  const server = await serve(() => {})
  const events: string[] = []
  const handler: ConnectHandler = {
    connected: () => events.push('connected'),
    failed: () => events.push('failed'),
    broken: () => events.push('broken'),
  }
  createClientPool({ transports: wireTransports() }).connect(server.destination, handler, undefined).cancel()
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(events).toEqual([])
})

const TRUSTED = {
  serverName: 'server.test',
  ca: CERTIFICATES.ca,
  cert: undefined,
  key: undefined,
  verify: 'full',
  alpn: undefined,
} as const

async function serveTls(): Promise<{ readonly port: number; readonly alpn: (string | false | null)[] }> {
  const alpn: (string | false | null)[] = []
  const options = { ...CERTIFICATES.server, ALPNProtocols: ['h2'], allowHalfOpen: true } as tls.TlsOptions
  const server = tls.createServer(options, (socket) => {
    alpn.push(socket.alpnProtocol)
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.push(() => server.close())
  return { port: (server.address() as net.AddressInfo).port, alpn }
}

test('over TLS without ALPN, each direction ends separately as well', async () => {
  const { port, alpn } = await serveTls()
  const { stream } = await connect({ ...destinationOf(port), tls: TRUSTED })
  const sink = listenTo(stream)
  say(stream, 'secret')
  stream.request.end()
  await sink.until(() => sink.ended)
  expect(sink.text).toBe('secret')
  expect(alpn).toEqual([false])
})

test('an untrusted certificate and unusable key material fail like a connection', async () => {
  const { port } = await serveTls()
  const to = (settings: object) => ({ ...destinationOf(port), tls: { ...TRUSTED, ...settings } })
  expect(await connect(to({ ca: undefined }))).toMatchObject({ connected: false, why: 'certificate-untrusted' })
  expect(await connect(to({ cert: 'x', key: 'y' }))).toMatchObject({ connected: false, why: 'tls-settings-unusable' })
})

test('a connection beyond the limit of its address fails at once; an ended one frees its place', async () => {
  const server = await serve(() => {})
  const pool = createClientPool({ transports: wireTransports() })
  const destination = { ...server.destination, bounds: { maxConnections: 1, maxWaiting: 9 } }
  const first = await connect(destination, pool)
  expect(first.connected).toBe(true)
  expect(await connect(destination, pool)).toMatchObject({ connected: false, why: 'too-many-connections' })
  first.stream.cancel()
  await vi.waitFor(async () => expect((await connect(destination, pool)).connected).toBe(true))
})
