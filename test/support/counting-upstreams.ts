import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { type FramePeer, FrameServer } from '#net/testing/frame-server.ts'
import { DATA, END_STREAM, HEADERS } from '#net/testing/frames.ts'
import { type Accepted, answering, RawServer } from '#net/testing/raw-peers.ts'

/** A server that counts its requests, and answers each with its name and the number of the request. */
export interface CountingUpstream {
  readonly port: number
  /** The bodies of all requests so far. */
  readonly bodies: readonly string[]
  /** Connections that the gateway has not closed. */
  readonly open: () => number
  readonly close: () => void
}

/** @param fault of request `n`, from 1; undefined: it is answered */
export async function countingHttp1(
  name: string,
  fault: (n: number) => ((peer: Accepted) => void) | undefined,
): Promise<CountingUpstream> {
  const bodies: string[] = []
  const peers: Accepted[] = []
  const serve = answering((_, body, peer) => {
    const n = bodies.push(body)
    const misbehave = fault(n)
    if (misbehave === undefined) return http1Answer(`${name} ${n}`)
    misbehave(peer)
    return ''
  })
  const server = await new RawServer((peer) => {
    peers.push(peer)
    serve(peer)
  }).start()
  const open = () => peers.filter(({ ended }) => !ended).length
  return { port: server.port, bodies, open, close: () => server.close() }
}

function http1Answer(text: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`
}

/** The same for HTTP/2. */
export async function countingHttp2(
  name: string,
  fault: (n: number) => ((peer: FramePeer, stream: number) => void) | undefined,
): Promise<CountingUpstream> {
  const bodies: string[] = []
  const serve = (peer: FramePeer, stream: number): void => {
    const parts = peer.of(DATA, stream)
    if (![...peer.of(HEADERS, stream), ...parts].some(({ flags }) => (flags & END_STREAM) !== 0)) return
    const n = bodies.push(Buffer.concat(parts.map(({ payload }) => payload)).toString('latin1'))
    const misbehave = fault(n)
    if (misbehave !== undefined) return misbehave(peer, stream)
    const text = `${name} ${n}`
    peer.head(stream, [
      [':status', '200'],
      ['content-length', String(text.length)],
    ])
    peer.data(stream, text, END_STREAM)
  }
  const server = await new FrameServer((peer) => {
    peer.settings()
    peer.onRequest = (stream) => serve(peer, stream)
    peer.onData = (stream) => serve(peer, stream)
  }).start()
  const open = () => server.peers.filter(({ socket }) => !socket.readableEnded && !socket.destroyed).length
  return { port: server.destination.port, bodies, open, close: () => server.close() }
}

/** TLS in front of a server: it passes on bytes, ends and resets. A reset may overtake the bytes before it. */
export async function behindTls(upstream: CountingUpstream, protocol: 'h2' | 'http/1.1'): Promise<CountingUpstream> {
  const raws = new Set<net.Socket>()
  const server = tls.createServer({ ...CERTIFICATES.server, ALPNProtocols: [protocol], noDelay: true }, (secure) => {
    const inner = net.connect({ host: '127.0.0.1', port: upstream.port, allowHalfOpen: true, noDelay: true })
    const raw = [...raws].find(({ remotePort }) => remotePort === secure.remotePort)!
    inner.on('error', () => raw.resetAndDestroy())
    secure.on('error', () => inner.destroy())
    secure.on('close', () => inner.destroy())
    secure.pipe(inner).pipe(secure)
  })
  server.on('connection', (raw: net.Socket) => {
    raws.add(raw)
    raw.on('error', () => {})
    raw.on('close', () => raws.delete(raw))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    ...upstream,
    port: (server.address() as net.AddressInfo).port,
    open: () => raws.size,
    close() {
      server.close()
      for (const raw of raws) raw.destroy()
      upstream.close()
    },
  }
}
