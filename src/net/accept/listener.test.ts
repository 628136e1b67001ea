import net from 'node:net'
import tls from 'node:tls'
import { afterEach, expect, test, vi } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { CERTIFICATES } from '../testing/certificates.ts'
import { FrameClient } from '../testing/frame-client.ts'
import { GOAWAY, PREFACE, SETTINGS } from '../testing/frames.ts'
import { RawClient } from '../testing/raw-peers.ts'
import { answerWith, RecordingHandler } from '../testing/recording-handler.ts'
import type { ListenError } from './listen-error.ts'
import type { ListenTls } from './listen-tls.ts'
import { type Listener, type ListenOptions, listen } from './listener.ts'

const cleanup: (() => unknown)[] = []

afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

async function serve(options: Partial<ListenOptions> = {}): Promise<Listener> {
  const listener = await listen({ host: '127.0.0.1', port: 0, handler: new RecordingHandler(), ...options })
  cleanup.push(() => listener.close())
  return listener
}

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

test('the handler gets the peer', async () => {
  const handler = new RecordingHandler(({ peer, ...stream }) => stream)
  let told = ''
  handler.onRequest = (stream) => {
    const { remoteAddress, remotePort, localAddress, localPort, secure, serverName } = stream.peer
    told = JSON.stringify([remoteAddress, remotePort, localAddress, localPort, secure, serverName ?? null])
    answerWith(stream, 'ok')
  }
  const { port } = await serve({ handler })
  const client = await RawClient.connect(port)
  cleanup.push(() => client.close())
  client.send(GET)
  await client.until((text) => text.endsWith('ok'))
  expect(told).toBe(JSON.stringify(['127.0.0.1', client.socket.localPort, '127.0.0.1', port, false, null]))
})

test('a port in use is reported by its error code', async () => {
  const { port } = await serve()
  const error = await serve({ port }).catch((error: ListenError) => error)
  expect(error).toMatchObject({ name: 'ListenError', code: 'address-in-use', host: '127.0.0.1', port })
  expect((error as ListenError).message).toBe(`cannot listen on 127.0.0.1:${port}: address in use`)
})

test('an address of another machine is reported by its error code', async () => {
  await expect(serve({ host: '192.0.2.1' })).rejects.toMatchObject({ code: 'address-not-available' })
})

test('listeners of several workers share a port', async () => {
  const first = await serve({ reusePort: true })
  const second = await serve({ reusePort: true, port: first.port })
  expect(second.port).toBe(first.port)
})

test('connections are counted while they are open', async () => {
  const listener = await serve()
  const client = await RawClient.connect(listener.port)
  client.send(GET)
  await client.until((text) => text.endsWith('ok'))
  expect(listener.connections).toBe(1)
  client.close()
  while (listener.connections > 0) await new Promise((resolve) => setTimeout(resolve, 5))
})

test('a connection that was served is reported with its peer and bytes when it closes', async () => {
  const ended: [port: number, received: number, sent: boolean][] = []
  const listener = await serve({
    served: (peer, { bytesRead, bytesWritten }) => ended.push([peer.localPort, bytesRead, bytesWritten > 0]),
  })
  const client = await RawClient.connect(listener.port)
  client.send(GET)
  await client.until((text) => text.endsWith('ok'))
  expect(ended).toEqual([])
  client.close()
  await vi.waitFor(() => expect(ended).toEqual([[listener.port, GET.length, true]]))
})

test('a connection that begins HTTP/2 while the listener drains gets a GOAWAY', async () => {
  const listener = await serve()
  const socket = net.connect(listener.port, '127.0.0.1')
  const client = new FrameClient(socket)
  cleanup.push(() => socket.destroy())
  await vi.waitFor(() => expect(listener.connections).toBe(1))
  const closed = listener.close({ drainMs: 60_000 })
  socket.write(PREFACE, 'latin1')
  client.send(SETTINGS, 0, 0, Buffer.alloc(0))
  await client.until(({ type }) => type === GOAWAY)
  socket.destroy()
  await closed
})

/** Connections that the kernel has accepted, with a request each, while the listener has not had a turn. */
async function connectAtOnce(port: number, count: number): Promise<RawClient[]> {
  const clients = Array.from({ length: count }, () => {
    const client = new RawClient(net.connect({ port, host: '127.0.0.1' }))
    client.socket.write(GET)
    return client
  })
  // Sockets connect at the next tick.
  await new Promise((resolve) => process.nextTick(resolve))
  return clients
}

for (const end of ['stopAccepting', 'close'] as const) {
  test(`connections that wait in the kernel are served: ${end}`, async () => {
    const handler = new RecordingHandler()
    handler.onRequest = (stream) => answerWith(stream, 'ok')
    const listener = await serve({ handler })
    const { port } = listener
    const clients = await connectAtOnce(port, 100)
    const stopped = end === 'close' ? listener.close({ drainMs: 60_000 }) : listener.stopAccepting()
    await Promise.all(clients.map((client) => client.until((text) => text.endsWith('ok'))))
    for (const client of clients) client.close()
    await stopped
    await expect(RawClient.connect(port)).rejects.toThrow('ECONNREFUSED')
  })
}

test('closing twice has no further effect', async () => {
  const listener = await serve()
  const client = await RawClient.connect(listener.port)
  while (listener.connections === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  await Promise.all([listener.close(), listener.close()])
  expect(await client.untilEnd()).toBe('')
})

function connectTls(port: number, servername: string): Promise<tls.TLSSocket> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', servername, ca: CERTIFICATES.ca, ALPNProtocols: ['h2', 'http/1.1'] }
    const socket = tls.connect({ ...options, allowHalfOpen: true } as tls.ConnectionOptions, () => resolve(socket))
    socket.once('error', reject)
    cleanup.push(() => socket.destroy())
  })
}

const CONTEXTS: ListenTls = {
  choose: ({ serverName }) =>
    serverName === 'server.test'
      ? {
          context: tls.createSecureContext(CERTIFICATES.server),
          alpnProtocols: ['http/1.1'],
          clientCertificate: 'none',
          carries: 'http',
        }
      : 'unknown-name',
}

test('TLS: a server name with a certificate is served', async () => {
  let told: unknown
  const handler = new RecordingHandler((stream) => {
    told = [stream.peer.secure, stream.peer.serverName, stream.peer.remoteAddress]
    answerWith(stream, 'x'.repeat(100_000))
  })
  const { port } = await serve({ handler, traffic: CONTEXTS })
  const socket = await connectTls(port, 'server.test')
  expect(socket.alpnProtocol).toBe('http/1.1')
  const client = new RawClient(socket)
  client.send(GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
  expect((await client.untilEnd()).endsWith('x'.repeat(100_000))).toBe(true)
  expect(told).toEqual([true, 'server.test', '127.0.0.1'])
})

test('TLS: HTTP/2 is used only with clients that negotiated it', async () => {
  const handler = new RecordingHandler((stream) => answerWith(stream, 'x'))
  const { port } = await serve({ handler, traffic: CONTEXTS })
  const client = new RawClient(await connectTls(port, 'server.test'))
  client.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  expect(await client.untilEnd()).toMatch(/^HTTP\/1\.1 505 /)
})

test('TLS: another server name is refused in the handshake', async () => {
  const { port } = await serve({ traffic: CONTEXTS })
  await expect(connectTls(port, 'other.test')).rejects.toThrow()
})

test('TLS: plain text is refused', async () => {
  const listener = await serve({ traffic: CONTEXTS })
  const client = new RawClient(net.connect(listener.port, '127.0.0.1'))
  client.send(GET)
  await client.untilClosed()
  expect(client.text).not.toContain('HTTP')
  expect(listener.connections).toBe(0)
})

verifies(
  ['frontend.tcp.keepalive/time', 'frontend.tcp.keepalive/interval', 'frontend.tcp.keepalive/retries'],
  'keepalive is set on accepted sockets only as configured',
  async () => {
    const set = vi.spyOn(net.Socket.prototype, 'setKeepAlive')
    const listener = await serve()
    const accepted = async () => {
      const client = await RawClient.connect(listener.port)
      client.send(GET)
      await client.until((text) => text.endsWith('ok'))
      client.close()
    }
    await accepted()
    expect(set).not.toHaveBeenCalled()
    listener.configure({ keepalive: { timeMs: 60_000, intervalMs: 5000, retries: 3 } })
    await accepted()
    expect(set.mock.calls).toEqual([[true, 60_000, 5000, 3]])
  },
)
