import http2 from 'node:http2'
import https from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import tls from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import type { Destination, DestinationTls } from '../destination.ts'
import { Head } from '../http/head.ts'
import { BODY_NONE, type ClientHandler, type ClientPool } from '../stream.ts'
import { ask } from '../testing/ask.ts'
import { CERTIFICATES } from '../testing/certificates.ts'
import { handClock } from '../testing/hand-clock.ts'
import { type Accepted, destinationOf, RawServer } from '../testing/raw-peers.ts'
import { TimerWheel, workerWheel } from '../timer-wheel.ts'
import { createClientPool } from './client-pool.ts'
import { Negotiation, type Pools } from './negotiation.ts'

const clock = handClock()
const cleanup: (() => unknown)[] = []

afterEach(() => {
  for (const undo of cleanup.splice(0)) undo()
})

const IDENTITY: DestinationTls = {
  serverName: undefined,
  ca: CERTIFICATES.ca,
  cert: undefined,
  key: undefined,
  verify: 'full',
  alpn: undefined,
}

type Handler = (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => void

/** Reports the version of the request, and echoes it. */
const echo: Handler = (request, response) => {
  let body = ''
  request.on('data', (bytes) => {
    body += bytes
  })
  request.on('end', () => response.end(`${request.httpVersion} ${body}`))
}

async function serving(server: Server): Promise<{ port: number; connections: () => number; destroyAll: () => void }> {
  const sockets = new Set<tls.TLSSocket>()
  let connections = 0
  server.on('secureConnection', (socket: tls.TLSSocket) => {
    connections++
    sockets.add(socket)
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  cleanup.push(() => server.close(), destroyAll)
  return { port: (server.address() as AddressInfo).port, connections: () => connections, destroyAll }
}

function to(port: number, http: Destination['http'], alpn: readonly string[]): Destination {
  return {
    ...destinationOf(port),
    key: `${port} ${alpn}`,
    ...(http === undefined ? {} : { http }),
    tls: { ...IDENTITY, alpn },
  }
}

function newPool(): ClientPool {
  const pool = createClientPool()
  cleanup.push(() => pool.close())
  return pool
}

const both = () => http2.createSecureServer({ ...CERTIFICATES.server, allowHTTP1: true }, echo)
const onlyHttp1 = () => https.createServer({ ...CERTIFICATES.server, ALPNProtocols: ['http/1.1'] }, echo as never)
const withoutAlpn = () =>
  https.createServer({ ...CERTIFICATES.server, ALPNCallback: undefined } as never, echo as never)

const OFFER = ['h2', 'http/1.1']

test.each<[server: string, make: () => Server, version: string]>([
  ['both', both, '2.0'],
  ['HTTP/1.1', onlyHttp1, '1.1'],
  ['nothing about protocols', withoutAlpn, '1.1'],
])('a server with ALPN %s', async (_, make, version) => {
  const { port, connections } = await serving(make())
  const pool = newPool()
  const destination = to(port, 'negotiated', OFFER)
  const bodies = ['one', '', 'three'.repeat(20_000)]
  const results = await Promise.all(bodies.map((body) => ask(pool, destination, { method: 'POST', body })))
  expect(results.map(({ status, body }) => [status, body])).toEqual(bodies.map((body) => [200, `${version} ${body}`]))
  const opened = connections()
  expect(await ask(pool, destination, { method: 'POST', chunked: true, body: 'x' })).toMatchObject({
    body: `${version} x`,
  })
  expect(connections()).toBe(opened)
  if (version === '2.0') expect(opened).toBe(1)
})

verifies('backend.tls/alpnProtocols', 'the offered protocols are those of the list', async () => {
  const offered: string[][] = []
  const server = tls.createServer({
    ...CERTIFICATES.server,
    ALPNCallback: ({ protocols }) => {
      offered.push(protocols)
      return undefined
    },
  })
  const { port } = await serving(server)
  const pool = newPool()
  for (const alpn of [
    ['h2', 'http/1.1'],
    ['http/1.1', 'x', 'h2'],
  ]) {
    expect(await ask(pool, to(port, 'negotiated', alpn))).toMatchObject({ failure: 'handshake-failed', sent: false })
  }
  expect(offered).toEqual([
    ['h2', 'http/1.1'],
    ['http/1.1', 'x', 'h2'],
  ])
})

test('a server that supports none of the offered protocols', async () => {
  const { port } = await serving(onlyHttp1())
  expect(await ask(newPool(), to(port, 'http2', ['h2']))).toMatchObject({ failure: 'handshake-failed', sent: false })
})

test('a replaced server negotiates again', async () => {
  const first = both()
  const { port, destroyAll } = await serving(first)
  const pool = newPool()
  const destination = to(port, 'negotiated', OFFER)
  expect(await ask(pool, destination)).toMatchObject({ body: '2.0 ' })
  const closed = new Promise((resolve) => first.close(resolve))
  destroyAll()
  await closed
  const second = onlyHttp1()
  second.listen(port, '127.0.0.1')
  await new Promise((resolve) => second.once('listening', resolve))
  cleanup.push(() => {
    second.close()
    second.closeAllConnections()
  })
  // A request on the connection that has just closed would go on in HTTP/2.
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await ask(pool, destination)).toMatchObject({ body: '1.1 ' })
})

test('a request cancelled during the handshake is not sent', async () => {
  const asked: string[] = []
  const server = http2.createSecureServer({ ...CERTIFICATES.server, allowHTTP1: true }, (request, response) => {
    asked.push(request.url)
    response.end()
  })
  const { port } = await serving(server)
  const pool = newPool()
  const destination = to(port, 'negotiated', OFFER)
  const given = ask(pool, destination, { path: '/kept' })
  const head = Head.request('GET', '/given-up')
  head.authority = 'x'
  const nothing = () => {}
  const handler = { response: nothing, informed: nothing, upgraded: nothing, replayed: nothing, failed: nothing }
  pool.send(destination, head, { kind: BODY_NONE, length: -1 }, 0, handler, undefined).cancel()
  await given
  expect(asked).toEqual(['/kept'])
})

test.each([
  ['without a connection', false, 'wait-timeout'],
  ['while the connection opens', true, 'connect-timeout'],
])('a request that waits too long %s', async (_, getsRoom, expected) => {
  const wheel = new TimerWheel()
  let hasRoom = false
  const connector = { wheel, reserve: () => hasRoom, dial: () => {} }
  const closed = { isOpen: () => false }
  const pools = { http1: closed, http2: closed, connector } as unknown as Pools
  const negotiation = new Negotiation(pools, { ...to(1, 'negotiated', OFFER), connectTimeoutMs: 1000 })
  const failures: string[] = []
  const nothing = () => {}
  const handler: ClientHandler = {
    response: nothing,
    informed: nothing,
    upgraded: nothing,
    replayed: nothing,
    failed: (_, { code }) => failures.push(code),
  }
  negotiation.send(Head.request('GET', '/'), { kind: BODY_NONE, length: -1 }, 0, handler, undefined)
  hasRoom = getsRoom
  negotiation.roomToConnect()
  clock.pass(wheel, 1300)
  expect(failures).toEqual([expected])
})

test('requests that wait for the choice of the server are limited in number', async () => {
  const silent = await new RawServer(() => {}).start()
  cleanup.push(() => silent.close())
  const pool = newPool()
  const destination = {
    ...to(silent.port, 'negotiated', ['h2', 'http/1.1']),
    connectTimeoutMs: 500,
    bounds: { maxConnections: 1, maxWaiting: 1 },
  }
  const first = ask(pool, destination)
  expect(await ask(pool, destination)).toMatchObject({ failure: 'too-many-waiting', sent: false })
  expect(await first).toMatchObject({ failure: 'connect-timeout', sent: false })
})

const PLAIN_HTTP1 = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n1.1'

/** A plaintext server that knows only HTTP/1.1. */
async function http1Server(onPreface: (peer: Accepted) => void) {
  const received: string[] = []
  const server = await new RawServer((peer) => {
    let isHttp2 = false
    peer.socket.on('data', (bytes) => {
      // The rest of an HTTP/2 preface.
      if (isHttp2) return
      const text = bytes.toString('latin1')
      received.push(text.slice(0, text.indexOf(' ')))
      isHttp2 = text.startsWith('PRI ')
      if (isHttp2) onPreface(peer)
      else peer.socket.write(PLAIN_HTTP1)
    })
  }).start()
  cleanup.push(() => server.close())
  return { port: server.port, received }
}

function plain(port: number): Destination {
  const base = { ...destinationOf(port), connectTimeoutMs: 60_000 }
  return { ...base, http: 'negotiated', http1: { ...base, http: 'http1' } }
}

test.each<[how: string, onPreface: (peer: Accepted) => void]>([
  ['answers in HTTP/1.1', (peer) => peer.socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')],
  ['closes', (peer) => peer.socket.end()],
  ['resets', (peer) => peer.socket.resetAndDestroy()],
  // Past half of the connect timeout, so that the time of the machine does not matter.
  ['stays silent', () => clock.pass(workerWheel, 31_000)],
])('a plaintext server that %s when HTTP/2 begins gets each request once, over HTTP/1.1', async (_, onPreface) => {
  const { port, received } = await http1Server(onPreface)
  const pool = newPool()
  const destination = plain(port)
  const first = await Promise.all([ask(pool, destination), ask(pool, destination, { method: 'POST', body: 'x' })])
  expect(first.map(({ status, body }) => [status, body])).toEqual([
    [200, '1.1'],
    [200, '1.1'],
  ])
  expect(await ask(pool, destination)).toMatchObject({ status: 200 })
  expect(received.toSorted()).toEqual(['GET', 'GET', 'POST', 'PRI'])
})

test('a plaintext server that speaks HTTP/2 gets HTTP/2, on one connection', async () => {
  const server = http2.createServer(echo)
  let connections = 0
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const pool = newPool()
  cleanup.push(() => server.close())
  const destination = plain((server.address() as AddressInfo).port)
  const bodies = ['one', 'two']
  const results = await Promise.all(bodies.map((body) => ask(pool, destination, { method: 'POST', body })))
  expect(results.map(({ body }) => body)).toEqual(['2.0 one', '2.0 two'])
  expect(await ask(pool, destination, { method: 'POST', body: 'three' })).toMatchObject({ body: '2.0 three' })
  expect(connections).toBe(1)
})
