import { once } from 'node:events'
import http2, { type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { MeshMaterial } from '../hbone/mesh-material.ts'
import { type Authority, issue, newKeys, pemOfKey, type Span } from './authority.ts'

/** The material of a workload with these URIs in its certificate. */
export async function issueMaterial(
  authority: Authority,
  uris: string | readonly string[],
  span: Span = {},
): Promise<MeshMaterial> {
  const keys = await newKeys()
  const all = typeof uris === 'string' ? [uris] : uris
  return {
    id: all[0] ?? '',
    certificate: await issue(authority, keys.publicKey, { ...span, uris: all }),
    key: await pemOfKey(keys),
    roots: authority.pem,
  }
}

export interface MeshPeerOptions {
  readonly material: MeshMaterial
  readonly host?: string
  readonly port?: number
  readonly maxStreams?: number
  /** More resets close the session. */
  readonly maxResets?: number
  /**
   * Serves a CONNECT; by default it connects to the address that was asked for.
   * @param index counts the requests
   */
  readonly serve?: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, index: number) => void
}

/** The proxy of a node as a pod has it: it accepts tunnels under mutual TLS and relays their bytes. */
export interface MeshPeer extends AsyncDisposable {
  readonly port: number
  /** Open sessions, in order. */
  readonly sessions: ServerHttp2Session[]
  /** The authority of each CONNECT. */
  readonly asked: string[]
  /** The SPIFFE ids of the clients of all sessions, open or not, in order. */
  readonly clients: string[]
}

export async function startMeshPeer(options: MeshPeerOptions): Promise<MeshPeer> {
  const { material, host = '127.0.0.1', port = 0, maxStreams, maxResets } = options
  const { certificate: cert, key, roots: ca } = material
  const serve = options.serve ?? relay
  const sessions: ServerHttp2Session[] = []
  const asked: string[] = []
  const clients: string[] = []
  const server = http2.createSecureServer({
    ...{ cert, key, ca, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3' },
    ...(maxResets !== undefined && { streamResetBurst: maxResets, streamResetRate: 1 }),
    ...(maxStreams !== undefined && { settings: { maxConcurrentStreams: maxStreams } }),
  })
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('session', (session) => {
    sessions.push(session)
    clients.push(nameOf(session))
    session.on('error', () => {})
    session.on('close', () => sessions.splice(sessions.indexOf(session), 1))
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    asked.push(headers[':authority'] ?? '')
    serve(stream as ServerHttp2Stream, headers, asked.length - 1)
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    sessions,
    asked,
    clients,
    [Symbol.asyncDispose]: async () => {
      for (const session of [...sessions]) session.destroy()
      for (const socket of sockets) socket.destroy()
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}

function nameOf({ socket }: ServerHttp2Session): string {
  const { subjectAltName = '' } = (socket as TLSSocket).getPeerX509Certificate() ?? {}
  return subjectAltName.replace(/^URI:/, '')
}

/** Connects to the address that was asked for, and relays the bytes of both directions. */
export function relay(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const [host = '', port = ''] = (headers[':authority'] ?? '').split(':')
  const socket = net.connect({ host, port: Number(port), allowHalfOpen: true }, () => {
    if (stream.destroyed) return void socket.destroy()
    stream.respond({ ':status': 200 })
    stream.pipe(socket)
    socket.pipe(stream)
  })
  socket.on('error', () => {
    if (!stream.headersSent && !stream.destroyed) stream.respond({ ':status': 503 }, { endStream: true })
    else stream.destroy()
  })
  stream.on('close', () => {
    if (!socket.readableEnded) socket.destroy()
  })
}
