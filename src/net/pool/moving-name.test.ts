import http2, { type ServerHttp2Stream } from 'node:http2'
import net from 'node:net'
import { expect, test, vi } from 'vitest'
import type { Destination } from '../destination.ts'
import { ask } from '../testing/ask.ts'
import { CERTIFICATES } from '../testing/certificates.ts'
import { poolRig } from '../testing/pool-rig.ts'

const OLD = '127.0.0.2'
const NEW = '127.0.0.3'

const { cleanup, newPool } = poolRig()

/** A server at one address of the name: its open connections, and the requests that it keeps waiting. */
interface Site {
  readonly open: Set<net.Socket>
  readonly held: (() => void)[]
}

/** Responds with its address; to requests for `/held` only on demand. */
function site(address: string, kind: 'http1' | 'http2' | 'negotiated'): { server: net.Server; site: Site } {
  const open = new Set<net.Socket>()
  const held: (() => void)[] = []
  const server =
    kind === 'http2'
      ? http2.createServer()
      : kind === 'negotiated'
        ? http2.createSecureServer({ ...CERTIFICATES.server, allowHTTP1: false })
        : net.createServer(serveHttp1)
  const track = (socket: net.Socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    cleanup.push(() => socket.destroy())
  }
  server.on(kind === 'negotiated' ? 'secureConnection' : 'connection', track)
  if (kind !== 'http1') {
    server.on('stream', (stream: ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
      const answer = () => {
        stream.respond({ ':status': 200 })
        stream.end(address)
      }
      if (headers[':path'] === '/held') held.push(answer)
      else answer()
    })
  }

  function serveHttp1(socket: net.Socket): void {
    socket.on('data', (bytes) => {
      const answer = () => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${address.length}\r\n\r\n${address}`)
      if (bytes.toString().includes('/held')) held.push(answer)
      else answer()
    })
  }
  return { server, site: { open, held } }
}

async function rig(kind: 'http1' | 'http2' | 'negotiated') {
  const older = site(OLD, kind)
  await new Promise<void>((resolve) => older.server.listen(0, OLD, resolve))
  const { port } = older.server.address() as net.AddressInfo
  const newer = site(NEW, kind)
  await new Promise<void>((resolve) => newer.server.listen(port, NEW, resolve))
  let addresses = [OLD]
  let lookups = 0
  const { pool, pass } = newPool({
    lookup: (_, done) => {
      lookups++
      done(null, addresses)
    },
  })
  cleanup.push(
    () => older.server.close(),
    () => newer.server.close(),
  )
  const identity = {
    serverName: undefined,
    ca: CERTIFICATES.ca,
    cert: undefined,
    key: undefined,
    verify: 'full',
  } as const
  const destination: Destination = {
    key: 'server.test',
    host: 'server.test',
    port,
    connectTimeoutMs: 5000,
    http: kind,
    ...(kind === 'negotiated' ? { tls: { ...identity, alpn: ['h2', 'http/1.1'] } } : {}),
  }
  /** Advances the clock by this many lookups of the name. */
  const renew = (times: number) => {
    for (let i = 0; i < times; i++) pass(5300)
  }
  return {
    pool,
    destination,
    older: older.site,
    newer: newer.site,
    renew,
    move: () => {
      addresses = [NEW]
    },
    lookups: () => lookups,
  }
}

test.each(['http1', 'http2', 'negotiated'] as const)(
  'a busy connection to an outdated address ends after its current requests (%s)',
  async (kind) => {
    const { pool, destination, older, newer, renew, move } = await rig(kind)
    const get = (path = '/') => ask(pool, destination, { path })
    expect(await get()).toMatchObject({ body: OLD })
    const held = get('/held')
    await vi.waitFor(() => expect(older.held).toHaveLength(1))
    move()
    renew(2)
    expect(older.open.size, 'some answers may omit the address').toBeGreaterThan(0)
    renew(1)
    expect(await get()).toMatchObject({ body: NEW })
    expect(older.open.size, 'a request is in progress').toBe(1)
    older.held[0]!()
    expect(await held).toMatchObject({ status: 200, body: OLD })
    await vi.waitFor(() => expect(older.open.size).toBe(0))
    expect(await get()).toMatchObject({ body: NEW })
    expect(newer.open.size).toBe(1)
  },
)

test('a new connection goes to the new address at once', async () => {
  const { pool, destination, older, renew, move } = await rig('http1')
  const held = ask(pool, destination, { path: '/held' })
  await vi.waitFor(() => expect(older.held).toHaveLength(1))
  move()
  renew(1)
  expect(await ask(pool, destination)).toMatchObject({ body: NEW })
  older.held[0]!()
  expect(await held).toMatchObject({ body: OLD })
})

test('idle connections close, and after the last one the name is no longer resolved', async () => {
  const { pool, destination, older, renew, move, lookups } = await rig('http1')
  await ask(pool, destination)
  move()
  renew(3)
  await vi.waitFor(() => expect(older.open.size).toBe(0))
  await new Promise((resolve) => setImmediate(resolve))
  const before = lookups()
  renew(5)
  expect(lookups()).toBe(before)
})

test('a relayed connection is not affected by later addresses of its name', async () => {
  const { pool, destination, renew, lookups } = await rig('http1')
  await new Promise<void>((resolve, reject) => {
    const handler = {
      connected: (stream: { cancel(): void }) => {
        cleanup.push(() => stream.cancel())
        resolve()
      },
      failed: reject,
      broken: () => {},
    }
    pool.connect(destination, handler, undefined)
  })
  renew(5)
  expect(lookups()).toBe(1)
})
