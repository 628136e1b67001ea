import type net from 'node:net'
import type { ReadRelay } from './read-relay.ts'
import type { Transport, TransportOwner } from './transport.ts'

/** `direct`: through the handles below the streams of Node. `streams`: through public API only. */
export type TransportKind = 'direct' | 'streams'

/** How the sockets of a thread are read and written where there is no TLS. */
export interface PlainTransports {
  readonly kind: TransportKind
  /** A transport on a socket that `server` accepted and paused; what was read of it and put back is told first. */
  accept(accepted: net.Socket, server: net.Server, owner: TransportOwner): Transport
  /** A transport on a connected client socket that was made with `relay.onread`. */
  open(socket: net.Socket, relay: ReadRelay, owner: TransportOwner): Transport
}
