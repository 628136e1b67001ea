import tls from 'node:tls'
import { connectFailure } from '../connect-failure.ts'
import type { ConnectFailure } from '../failure.ts'
import { ClientSession, type SessionOwner } from '../node-http2/client-session.ts'
import { checkMeshId } from './check-mesh-id.ts'
import type { MeshContext } from './mesh-context.ts'

/** Where tunnels to a pod end. */
export interface PodPlace {
  /** IP address of the pod. */
  readonly host: string
  readonly port: number
  /** The SPIFFE id that the pod must prove. */
  readonly identity: string
}

export interface PodDialOptions {
  readonly owner: SessionOwner
  /** The socket is closed. Also called after a failure. */
  closed(): void
  /** Called once, when both sides have proved who they are and the pod has begun HTTP/2, or with the failure. */
  done(session: ClientSession | null, failure: ConnectFailure | null): void
}

const H2 = 'h2'

/** Interval of TCP keepalive probes (decision A-41). */
const KEEPALIVE_MS = 180_000

/** Opens a session with a pod. @returns cancels it; `done` is then not called */
export function dialPod(place: PodPlace, context: MeshContext, { owner, closed, done }: PodDialOptions): () => void {
  const { host, port, identity } = place
  const socket = tls.connect({
    host,
    port,
    secureContext: context.secureContext,
    // An address cannot be sent (RFC 6066, 3).
    servername: '',
    ALPNProtocols: [H2],
    checkServerIdentity: (_, certificate) => checkMeshId(identity, certificate),
  })
  let failure: ConnectFailure | undefined
  let over = false
  const finish = (session: ClientSession | null) => {
    if (over) return
    over = true
    done(session, session === null ? (failure ?? NOT_BEGUN) : null)
  }
  socket.setNoDelay(true).setKeepAlive(true, KEEPALIVE_MS)
  // After the handshake, Node emits TLS errors but leaves the socket open.
  socket.on('error', (error: NodeJS.ErrnoException) => {
    failure ??= error.code?.startsWith('ERR_HTTP2') ? NOT_HTTP2 : connectFailure(error, true)
    socket.destroy()
  })
  socket.once('close', () => {
    closed()
    finish(null)
  })
  socket.once('secureConnect', () => {
    if (socket.alpnProtocol !== H2) {
      failure = NOT_HTTP2
      return socket.destroy()
    }
    // A pod that does not trust the certificate of the gateway says so after the handshake of the gateway (RFC 8446, 4.4.3).
    const session = new ClientSession(socket, owner, (speaks) => {
      if (speaks) finish(session)
    })
  })
  return () => {
    over = true
    socket.destroy()
  }
}

const NOT_HTTP2: ConnectFailure = { code: 'tunnel-failed', detail: 'the pod does not speak HTTP/2' }

const NOT_BEGUN: ConnectFailure = {
  code: 'tunnel-failed',
  detail: 'the pod closed the connection before it began HTTP/2; it may not accept the certificate of this gateway',
}
