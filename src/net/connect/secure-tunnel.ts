import tls from 'node:tls'
import { connectFailure } from '../connect-failure.ts'
import type { Destination } from '../destination.ts'
import type { ConnectFailure } from '../failure.ts'
import type { ConnectedSocket } from '../transport/connected-socket.ts'
import { type DialContext, handshakeOptions } from './dial.ts'

export interface SecureTunnelOptions {
  readonly halfOpen: boolean
  /** Called once, unless `socket` is destroyed before. */
  done(socket: tls.TLSSocket | null, failure: ConnectFailure | null): void
}

/** Performs the TLS handshake with a destination, which has TLS settings, in a tunnel to it. */
export function secureTunnel(
  socket: ConnectedSocket,
  destination: Destination,
  context: DialContext,
  { halfOpen, done }: SecureTunnelOptions,
): void {
  const secured = tls.connect({ ...handshakeOptions(destination, context, halfOpen), socket })
  secured.on('session', (session) => {
    context.session = session
  })
  secured.once('close', () => socket.destroy())
  // After the handshake, Node emits TLS errors but leaves the socket open.
  secured.on('error', () => secured.destroy())
  const fail = (error: Error) => done(null, connectFailure(error, true))
  secured.once('error', fail)
  secured.once('secureConnect', () => {
    secured.off('error', fail)
    done(secured, null)
  })
}
