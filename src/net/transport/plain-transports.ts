import type net from 'node:net'
import type { ReadRelay } from './read-relay.ts'
import type { Transport, TransportOwner } from './transport.ts'

/** `direct`: through the handles below the streams of Node. `streams`: through public API only. */
export type TransportKind = 'direct' | 'streams'

/** Access to the plain sockets of a thread. */
export interface PlainTransports {
  readonly kind: TransportKind
  /** A transport on a socket that `server` accepted and paused. It first delivers bytes that were read and unshifted. */
  accept(accepted: net.Socket, server: net.Server, owner: TransportOwner): Transport
  /** For a client socket, which must be created with its `onread`. */
  newRelay(): ReadRelay
  /** A transport on a connected client socket that was created with `relay.onread`. */
  open(socket: net.Socket, relay: ReadRelay, owner: TransportOwner): Transport
}
