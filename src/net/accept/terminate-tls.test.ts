import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import { Head } from '../http/head.ts'
import { BODY_LENGTH, type RelayedConnection, type RelayHandler, type ServerStream } from '../stream.ts'
import { CERTIFICATES } from '../testing/certificates.ts'
import { FakeUpstream } from '../testing/fake-upstream.ts'
import { answerWith, RecordingHandler } from '../testing/recording-handler.ts'
import { CORRUPT_RECORD, WireTap } from '../testing/wire-tap.ts'
import { type Listener, type ListenOptions, listen } from './listener.ts'

const cleanup: (() => unknown)[] = []

afterEach(async () => {
  for (const undo of cleanup.splice(0)) await undo()
})

const TERMINATED = {
  context: tls.createSecureContext(CERTIFICATES.server),
  alpnProtocols: ['h2', 'http/1.1'],
  clientCertificate: 'none',
  carries: 'http',
} as const

const PROXY_HEADER = 'PROXY TCP4 192.0.2.7 127.0.0.1 1 2\r\n'

/** Records connections and how they ended. */
class Relay implements RelayHandler {
  readonly closings: string[] = []

  accepted(connection: RelayedConnection): void {
    connection.tunnel(new FakeUpstream())
  }

  closed(_: RelayedConnection, _received: number, _sent: number, why: string | undefined): void {
    this.closings.push(why ?? 'in order')
  }
}

/** The actions of a client on a connection of each kind before it misbehaves. */
interface Way {
  readonly alpn: string
  readonly options?: Partial<ListenOptions>
  readonly header?: string
  readonly onRequest?: (stream: ServerStream) => void
  readonly asks: string
}

const GET = 'GET / HTTP/1.1\r\nHost: server.test\r\n\r\n'
const upgrade = (stream: ServerStream) => {
  const switching = Head.response(101)
  switching.upgrade = 'test'
  stream.tunnel(switching, new FakeUpstream())
}
const beginOnly = (stream: ServerStream) => stream.respond(Head.response(200), BODY_LENGTH, 100)

const WAYS: Readonly<Record<string, Way>> = {
  'an idle connection of HTTP/1': { alpn: 'http/1.1', asks: GET },
  'a request of HTTP/1': { alpn: 'http/1.1', asks: GET, onRequest: beginOnly },
  'HTTP/1 behind a PROXY header': {
    alpn: 'http/1.1',
    asks: GET,
    options: { proxyHeader: { version: 'All', required: true } },
    header: PROXY_HEADER,
  },
  'an upgrade': {
    alpn: 'http/1.1',
    asks: 'GET / HTTP/1.1\r\nHost: server.test\r\nConnection: upgrade\r\nUpgrade: test\r\n\r\n',
    onRequest: upgrade,
  },
  'HTTP/2': { alpn: 'h2', asks: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0' },
  'relayed bytes': {
    alpn: '',
    asks: 'bytes',
    options: {
      traffic: { choose: () => ({ ...TERMINATED, alpnProtocols: [], carries: 'bytes' }) },
      relay: new Relay(),
    },
  },
}

interface Connected {
  readonly listener: Listener
  readonly tap: WireTap
  readonly client: tls.TLSSocket
}

/** A client with TLS 1.2, which has renegotiation, after its first bytes were answered or read. */
async function connect(
  { alpn, options, header, onRequest, asks }: Way,
  version: tls.SecureVersion,
): Promise<Connected> {
  const handler = new RecordingHandler(onRequest ?? ((stream) => answerWith(stream, 'ok')))
  const traffic = { choose: () => TERMINATED }
  const listener = await listen({ host: '127.0.0.1', port: 0, handler, traffic, ...options })
  cleanup.push(() => listener.close())
  const tap = await WireTap.start(listener.port)
  cleanup.push(() => tap.close())
  const socket = net.connect(tap.port, '127.0.0.1')
  await once(socket, 'connect')
  if (header !== undefined) socket.write(header)
  const client = tls.connect({
    socket,
    servername: 'server.test',
    ca: CERTIFICATES.ca,
    maxVersion: version,
    ...(alpn === '' ? {} : { ALPNProtocols: [alpn] }),
  })
  cleanup.push(() => client.destroy())
  client.on('error', () => {})
  await once(client, 'secureConnect')
  client.write(asks, 'latin1')
  if (alpn !== '') await once(client, 'data')
  client.resume()
  return { listener, tap, client }
}

async function untilEmpty(listener: Listener): Promise<void> {
  while (listener.connections > 0) await new Promise((resolve) => setTimeout(resolve, 1))
}

const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const

test.each(Object.keys(WAYS).flatMap((way) => VERSIONS.map((version) => [way, version] as const)))(
  '%s over %s: an invalid record ends the connection',
  async (way, version) => {
    const { listener, tap } = await connect(WAYS[way]!, version)
    expect(listener.connections).toBe(1)
    await tap.addToServer(CORRUPT_RECORD)
    await tap.closed
    await untilEmpty(listener)
  },
)

test.each(Object.keys(WAYS))('%s: a client that renegotiates is disconnected', async (way) => {
  const { listener, tap, client } = await connect(WAYS[way]!, 'TLSv1.2')
  let renegotiated = false
  client.renegotiate({}, (error) => {
    renegotiated = error === null
  })
  await tap.closed
  expect(renegotiated).toBe(false)
  await untilEmpty(listener)
})
