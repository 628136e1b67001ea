import { expect, test, vi } from 'vitest'
import type { PoolSettings } from '../connect/pool-settings.ts'
import type { Destination } from '../destination.ts'
import { Head } from '../http/head.ts'
import { BODY_LENGTH, BODY_NONE, type ClientHandler } from '../stream.ts'
import { ask } from '../testing/ask.ts'
import { CERTIFICATES } from '../testing/certificates.ts'
import { poolRig } from '../testing/pool-rig.ts'
import { type Accepted, answering, RawServer } from '../testing/raw-peers.ts'
import { TextSink } from '../testing/recording-handler.ts'

const { cleanup, newPool } = poolRig()

async function rig(serve: (peer: Accepted, index: number) => void, settings: Partial<PoolSettings> = {}) {
  const server = await new RawServer(serve).start()
  const pools = newPool(settings)
  cleanup.push(() => server.close())
  return { server, ...pools, destination: server.destination }
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

test.each([
  [{}, 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'],
  [{ method: 'POST' }, 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'],
  [{ method: 'DELETE' }, 'DELETE / HTTP/1.1\r\nhost: x\r\n\r\n'],
  [{ method: 'POST', body: 'hello' }, 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhello'],
  [
    { method: 'POST', body: 'hello', chunked: true },
    'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  ],
])('a request %j is sent as %j', async (asked, expected) => {
  let seen = ''
  const { pool, destination } = await rig(
    answering((head, body) => {
      seen = head + body
      return OK
    }),
  )
  expect(await ask(pool, destination, asked)).toMatchObject({ status: 200, body: 'ok' })
  expect(seen).toBe(expected)
})

test('connections are kept per destination and reused', async () => {
  const { pool, server, destination } = await rig(answering(() => OK))
  for (let i = 0; i < 3; i++) await ask(pool, destination)
  expect(server.connections).toBe(1)
  await ask(pool, { ...destination, key: 'another' })
  expect(server.connections).toBe(2)
})

test('the connection of a replayed request belongs to the pool', async () => {
  let requests = 0
  const { pool, server, destination } = await rig(
    answering((_head, _body, peer) => {
      requests++
      if (requests !== 2) return OK
      peer.socket.resetAndDestroy()
      return ''
    }),
  )
  await ask(pool, destination)
  expect(await ask(pool, destination)).toMatchObject({ status: 200 })
  expect(await ask(pool, destination)).toMatchObject({ status: 200 })
  expect(server.connections).toBe(2)
})

test('a connection whose last receiver was backed up is read for the next request', async () => {
  const { pool, server, destination } = await rig(answering(() => OK))
  expect(await ask(pool, destination, { backed: true })).toMatchObject({ body: 'ok' })
  expect(await ask(pool, destination)).toMatchObject({ body: 'ok' })
  expect(server.connections).toBe(1)
})

test('concurrent requests get a connection each; at most the maximum are kept', async () => {
  const { pool, server, destination } = await rig(
    answering(() => OK),
    { maxIdle: 2 },
  )
  await Promise.all([ask(pool, destination), ask(pool, destination), ask(pool, destination)])
  expect(server.connections).toBe(3)
  await Promise.all([ask(pool, destination), ask(pool, destination), ask(pool, destination)])
  expect(server.connections).toBe(4)
})

test.each([
  ['the idle limit of the pool', OK, 90_000],
  ['a second before the hint of the server', OK.replace('\r\n\r\n', '\r\nKeep-Alive: timeout=5\r\n\r\n'), 4000],
])('an idle connection is kept until %s', async (_, answer, ms) => {
  const { pool, server, destination, pass } = await rig(answering(() => answer))
  await ask(pool, destination)
  pass(ms - 200)
  await ask(pool, destination)
  expect(server.connections).toBe(1)
  pass(ms + 300)
  await ask(pool, destination)
  expect(server.connections).toBe(2)
})

const keepsOrNot: [what: string, method: string, answer: string, connections: number][] = [
  ['Connection: close', 'GET', OK.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'), 2],
  ['HTTP/1.0', 'GET', OK.replace('1.1', '1.0'), 2],
  [
    'HTTP/1.0, which may not know how a request was framed',
    'GET',
    'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\ncontent-length: 2\r\n\r\nok',
    2,
  ],
  ['a hint of one second', 'GET', OK.replace('\r\n\r\n', '\r\nKeep-Alive: timeout=1\r\n\r\n'), 2],
  ['HEAD with a length', 'HEAD', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n', 1],
  ['HEAD with chunks', 'HEAD', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', 1],
  ['HEAD without either', 'HEAD', 'HTTP/1.1 200 OK\r\n\r\n', 2],
  ['HEAD of what did not change', 'HEAD', 'HTTP/1.1 304 Not Modified\r\n\r\n', 1],
  ['204', 'GET', 'HTTP/1.1 204 No Content\r\n\r\n', 1],
  ['204 with length 0', 'GET', 'HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n', 1],
  ['204 that announces a body', 'GET', 'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n', 2],
  ['204 that announces chunks', 'GET', 'HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n', 2],
  ['304', 'GET', 'HTTP/1.1 304 Not Modified\r\n\r\n', 1],
  ['304 that announces a body', 'GET', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 2\r\n\r\n', 2],
  ['more than the response', 'GET', `${OK}more`, 2],
  ['two responses', 'GET', `${OK}${OK}`, 2],
]
test.each(keepsOrNot)('after %s to %s', async (_, method, answer, connections) => {
  const { pool, server, destination } = await rig(answering(() => answer))
  await ask(pool, destination, { method })
  await ask(pool, destination, { method })
  expect(server.connections).toBe(connections)
})

test('a body after a 204 is not used as the next response', async () => {
  const late = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged'
  let requests = 0
  const { pool, destination } = await rig(
    answering((_, __, peer) => {
      if (requests++ > 0) return OK
      setTimeout(() => peer.send(late), 20)
      return `HTTP/1.1 204 No Content\r\ncontent-length: ${late.length}\r\n\r\n`
    }),
  )
  await ask(pool, destination)
  expect(await ask(pool, destination)).toMatchObject({ body: 'ok' })
})

test('a server that closes after an unframed response to HEAD does not affect the next request', async () => {
  const { pool, destination } = await rig(
    answering((head, _, peer) => {
      if (head.startsWith('POST')) return OK
      setTimeout(() => peer.close(), 20)
      return 'HTTP/1.1 200 OK\r\n\r\n'
    }),
  )
  await ask(pool, destination, { method: 'HEAD' })
  expect(await ask(pool, destination, { method: 'POST', body: 'x' })).toMatchObject({ body: 'ok' })
})

test('a connection is not reused if the response began before the request ended', async () => {
  const { pool, server, destination } = await rig((peer, index) => {
    if (index > 0) return answering(() => OK)(peer)
    void peer
      .until((text) => text.endsWith('he'))
      .then(() => peer.send('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no'))
    void peer.until((text) => text.endsWith('hello')).then(() => peer.send('k'))
  })
  const head = Head.request('POST', '/')
  head.authority = 'x'
  const sink = new TextSink()
  await new Promise<void>((resolve) => {
    sink.onEnd = resolve
    const handler: ClientHandler = {
      response: (stream) => {
        stream.body.pipe(sink)
        stream.request.bytes(Buffer.from('llo'), 0, 3)
        stream.request.end()
      },
      informed: () => {},
      upgraded: () => {},
      replayed: () => {},
      failed: () => {},
    }
    const stream = pool.send(destination, head, { kind: BODY_LENGTH, length: 5 }, 0, handler, undefined)
    stream.request.bytes(Buffer.from('he'), 0, 2)
  })
  expect(sink.text).toBe('ok')
  await ask(pool, destination)
  expect(server.connections).toBe(2)
})

test('a response that completes before its request closes the connection', async () => {
  const { pool, server, destination } = await rig((peer) => {
    peer.socket.once('data', () => peer.send(OK))
  })
  const head = Head.request('POST', '/')
  head.authority = 'x'
  const sink = new TextSink()
  await new Promise<void>((resolve) => {
    sink.onEnd = resolve
    const handler: ClientHandler = {
      response: (stream) => stream.body.pipe(sink),
      informed: () => {},
      upgraded: () => {},
      replayed: () => {},
      failed: () => {},
    }
    const stream = pool.send(destination, head, { kind: BODY_LENGTH, length: 5 }, 0, handler, undefined)
    stream.request.bytes(Buffer.from('he'), 0, 2)
  })
  expect(sink.text).toBe('ok')
  await ask(pool, destination)
  expect(server.connections).toBe(2)
})

test('a response time limit covers the head only', async () => {
  let end = () => {}
  const { pool, destination, pass } = await rig((peer) => {
    peer.socket.once('data', () => peer.send('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no'))
    end = () => peer.send('k')
  })
  const responded = () => {
    pass(60_000)
    end()
  }
  expect(await ask(pool, destination, { timeoutMs: 1000, responded })).toMatchObject({ status: 200, body: 'ok' })
})

test('a response after its time limit', async () => {
  const { pool, destination, pass } = await rig((peer) => {
    peer.socket.once('data', () => pass(1300))
  })
  expect(await ask(pool, destination, { timeoutMs: 1000 })).toMatchObject({ failure: 'timeout', sent: true })
})

test('unusable key material fails the request', async () => {
  const { pool, destination } = await rig(answering(() => OK))
  const tls = { serverName: undefined, ca: 'nothing', cert: 'x', key: 'y', verify: 'full', alpn: undefined } as const
  expect(await ask(pool, { ...destination, key: 'tls', tls })).toMatchObject({
    failure: 'tls-settings-unusable',
    sent: false,
  })
})

test('a server without TLS fails the request unsent', async () => {
  const { pool, destination } = await rig((peer) => {
    peer.socket.once('data', () => peer.socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  })
  const tls = { serverName: undefined, ca: CERTIFICATES.ca, cert: undefined, key: undefined, alpn: undefined } as const
  const secured: Destination = { ...destination, key: 'tls', tls: { ...tls, verify: 'full' } }
  expect(await ask(pool, secured)).toMatchObject({ failure: 'handshake-failed', sent: false })
})

test('a head is unchanged until it is released', async () => {
  const { pool, destination } = await rig(
    answering((_, __, peer) => `HTTP/1.1 200 OK\r\nX-Port: ${peer.socket.remotePort}\r\ncontent-length: 0\r\n\r\n`),
    { maxIdle: 0 },
  )
  const first = await ask(pool, destination)
  const port = first.stream.head.get('x-port')
  const second = await ask(pool, destination)
  expect(second.stream).not.toBe(first.stream)
  expect(first.stream.head.get('x-port')).toBe(port)
  first.stream.release()
  first.stream.release()
  const third = await ask(pool, destination)
  const fourth = await ask(pool, destination)
  expect(third.stream).toBe(first.stream)
  expect(fourth.stream).not.toBe(third.stream)
})

test('release during the exchange has no effect', async () => {
  const { pool, destination } = await rig(answering(() => OK))
  const asked = ask(pool, destination)
  const other = ask(pool, destination)
  const [first, second] = await Promise.all([asked, other])
  expect(first.stream).not.toBe(second.stream)
})

test('a closed pool keeps no connections', async () => {
  const { pool, server, destination } = await rig(answering(() => OK))
  await ask(pool, destination)
  pool.close()
  await ask(pool, destination)
  await ask(pool, destination)
  expect(server.connections).toBe(3)
})

test.each([
  [100, { status: 200, failure: undefined }],
  [101, { status: 0, failure: 'protocol-error' }],
])('a server with %d interim responses', async (count, expected) => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
  const { pool, destination } = await rig(answering(() => interim.repeat(count) + OK))
  const result = await ask(pool, destination)
  expect(result).toMatchObject(expected)
  expect(result.informed).toHaveLength(100)
})

test('cancel closes the connection without an event', async () => {
  let ended: () => void = () => {}
  const gone = new Promise<void>((resolve) => {
    ended = resolve
  })
  const { pool, destination } = await rig((peer) => peer.socket.on('end', ended))
  const handler = { response: vi.fn(), informed: vi.fn(), upgraded: vi.fn(), replayed: vi.fn(), failed: vi.fn() }
  const head = Head.request('GET', '/')
  head.authority = 'x'
  const stream = pool.send(destination, head, { kind: BODY_NONE, length: -1 }, 0, handler, undefined)
  setTimeout(() => stream.cancel(), 30)
  await gone
  expect(handler.failed).not.toHaveBeenCalled()
  expect(handler.response).not.toHaveBeenCalled()
})
