import { once } from 'node:events'
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { CERTIFICATES } from '../testing/certificates.ts'
import { openDataTransport } from '../transport/data-transport.ts'
import { TunnelSocket } from './tunnel-socket.ts'

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

interface Tunnels {
  readonly session: ClientHttp2Session
  /** Opens a tunnel and gives both of its ends. */
  tunnel(halfOpen?: boolean): Promise<{ near: TunnelSocket; far: TunnelSocket; streams: readonly Duplex[] }>
}

async function tunnels(): Promise<Tunnels> {
  const accepted: ServerHttp2Stream[] = []
  const server = http2.createServer()
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200 })
    accepted.push(stream)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  session.on('error', () => {})
  open.push(() => {
    session.destroy()
    server.close()
  })
  return {
    session,
    async tunnel(halfOpen = true) {
      const stream = session.request({ ':method': 'CONNECT', ':authority': '10.0.0.1:80' }, { endStream: false })
      await once(stream, 'response')
      const served = accepted.pop()!
      const ends = { near: socketOf(stream, halfOpen), far: socketOf(served, halfOpen) }
      return { ...ends, streams: [stream, served] }
    },
  }
}

function socketOf(stream: ClientHttp2Stream | ServerHttp2Stream, halfOpen: boolean): TunnelSocket {
  const socket = new TunnelSocket(stream, { halfOpen })
  socket.on('error', () => {})
  return socket
}

/** All bytes until the peer ends its direction. */
async function textOf(socket: Duplex): Promise<string> {
  let text = ''
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1')
  })
  socket.resume()
  await once(socket, 'end')
  return text
}

test('bytes pass both ways, and the directions end independently', async () => {
  const { near, far, streams } = await (await tunnels()).tunnel()
  near.end('question \u00ff', 'latin1')
  expect(await textOf(far)).toBe('question \u00ff')
  expect(far.writable).toBe(true)
  far.end('answer')
  expect(await textOf(near)).toBe('answer')
  await eventually('all closed', () => [near, far, ...streams].every(({ destroyed }) => destroyed))
  expect([near.bytesRead, near.bytesWritten, far.bytesRead, far.bytesWritten]).toEqual([6, 10, 10, 6])
  expect([near.errored, far.errored]).toEqual([null, null])
})

test('without a half-open end, the end of the peer ends the socket', async () => {
  const { near, far } = await (await tunnels()).tunnel(false)
  far.resume()
  near.end()
  await Promise.all([once(near.resume(), 'close'), once(far, 'close')])
  expect([near.errored, far.errored]).toEqual([null, null])
})

test('a reader that pauses stops the writer, and no byte is lost', async () => {
  const { near, far } = await (await tunnels()).tunnel()
  const piece = Buffer.alloc(65_536, 'abcdefgh')
  const total = 64 * piece.length
  const drained: number[] = []
  let left = 64
  const write = () => {
    while (left > 0) {
      left--
      if (!near.write(piece)) return
    }
    near.end()
  }
  near.on('drain', () => {
    drained.push(left)
    write()
  })
  write()
  await eventually('backpressure', () => near.writableNeedDrain)
  // What the windows and buffers take, and no more, while nothing reads.
  await new Promise((resolve) => setImmediate(resolve))
  expect(near.writableLength).toBeGreaterThan(0)
  expect(near.bytesWritten).toBeLessThan(total / 4)
  const text = await textOf(far)
  expect(text.length).toBe(total)
  expect(text).toBe('abcdefgh'.repeat(total / 8))
  expect(drained.length).toBeGreaterThan(1)
})

test('destroy ends our direction normally, and the stream closes', async () => {
  const { near, far, streams } = await (await tunnels()).tunnel()
  near.write('last')
  await eventually('sent', () => near.writableLength === 0)
  near.destroy()
  await once(near, 'close')
  expect(await textOf(far)).toBe('last')
  await eventually('streams closed', () => streams.every(({ destroyed }) => destroyed))
})

test.each(['resetAndDestroy', 'destroy with an error', 'destroy with bytes that were not sent'])(
  '%s resets the peer',
  async (how) => {
    const { near, far, streams } = await (await tunnels()).tunnel()
    far.resume()
    const failed = once(far, 'error').catch((error: unknown) => [error])
    if (how === 'resetAndDestroy') near.resetAndDestroy()
    else if (how === 'destroy with an error') near.destroy(new Error('broken'))
    else {
      near.write(Buffer.alloc(1_000_000))
      near.destroy()
    }
    expect(await failed).toMatchObject([{ code: 'ECONNRESET' }])
    await eventually('all closed', () => far.destroyed && streams.every(({ destroyed }) => destroyed))
  },
)

test('a reset of one tunnel leaves the others of its session alone', async () => {
  const { tunnel, session } = await tunnels()
  const [first, second] = [await tunnel(), await tunnel()]
  first.near.resume()
  first.far.resetAndDestroy()
  await eventually('reset', () => first.near.destroyed)
  second.near.end('still here')
  expect(await textOf(second.far)).toBe('still here')
  expect(session.destroyed).toBe(false)
})

test('the end of its session resets a tunnel', async () => {
  const { tunnel, session } = await tunnels()
  const { near, far } = await tunnel()
  near.resume()
  far.resume()
  session.destroy()
  await eventually('closed', () => near.destroyed && far.destroyed)
  expect([near.errored, far.errored]).toMatchObject([{ code: 'ECONNRESET' }, { code: 'ECONNRESET' }])
})

test('bytes before the orderly end of a peer that has left are still read', async () => {
  const { tunnel } = await tunnels()
  const { near, far } = await tunnel()
  far.write('whole answer')
  await eventually('sent', () => far.writableLength === 0)
  far.end()
  await eventually('ended', () => far.writableFinished)
  far.destroy()
  near.write('late')
  expect(await textOf(near)).toBe('whole answer')
})

test('put-back bytes are read first', async () => {
  const { near, far } = await (await tunnels()).tunnel()
  near.end('abc')
  const [bytes] = (await once(far, 'data')) as [Buffer]
  far.pause()
  far.unshift(bytes)
  expect(await textOf(far)).toBe('abc')
})

test('TLS works inside, and a reset of the tunnel reaches it', async () => {
  const { near, far } = await (await tunnels()).tunnel()
  const served = new tls.TLSSocket(far, { isServer: true, ...CERTIFICATES.server })
  served.on('error', () => {})
  served.on('data', (bytes: Buffer) => served.write(bytes))
  const secured = tls.connect({ socket: near, ca: CERTIFICATES.ca, servername: 'server.test' })
  await once(secured, 'secureConnect')
  secured.write('secret')
  expect(String((await once(secured, 'data'))[0])).toBe('secret')
  const failed = once(secured, 'error')
  far.resetAndDestroy()
  expect(await failed).toMatchObject([{ code: 'ECONNRESET' }])
})

test('HTTP/2 works inside', async () => {
  const { near, far } = await (await tunnels()).tunnel()
  const inner = http2.performServerHandshake(far)
  inner.on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 204 }, { endStream: true })
  })
  far.read(0)
  const client = http2.connect('http://inside', { createConnection: () => near })
  const request = client.request({ ':path': '/' })
  const [head] = (await once(request, 'response')) as [Record<string, unknown>]
  expect(head[':status']).toBe(204)
  client.close()
  await Promise.all([once(client, 'close'), once(near, 'close'), once(far, 'close')])
})

test('a transport on it counts unsent bytes, and its reset is one', async () => {
  const { near, far } = await (await tunnels()).tunnel()
  const events: string[] = []
  const transport = openDataTransport(near, {
    bytes: () => {},
    ended: () => events.push('ended'),
    drained: () => events.push('drained'),
    closed: () => events.push('closed'),
  })
  transport.writeBytes(Buffer.alloc(1_000_000), 0, 1_000_000)
  expect(transport.unsentBytes).toBe(1_000_000)
  expect(transport.backed).toBe(true)
  far.resume()
  await eventually('drained', () => events.length === 1)
  expect(transport.unsentBytes).toBe(0)
  transport.reset()
  await eventually('closed', () => events.length === 2)
  expect(events).toEqual(['drained', 'closed'])
  expect(transport.usable).toBe(false)
  await eventually('reset', () => far.errored !== null)
  expect(far.errored).toMatchObject({ code: 'ECONNRESET' })
})
