import net from 'node:net'
import type { Duplex } from 'node:stream'

/** Byte counts of a socket; under TLS, of the plain text. */
export interface ByteCounts {
  readonly bytesRead: number
  readonly bytesWritten: number
}

/** A connection as a stream of Node: a TCP or Unix socket, TLS on top of any of these, or a tunnel (`hbone/tunnel-socket.ts`). */
export interface ConnectedSocket extends Duplex, ByteCounts {
  /** Closes both directions with a reset, which the peer can distinguish from an orderly end; see `canReset`. */
  resetAndDestroy(): this
}

/**
 * Under TLS the missing closure alert is the signal, and a Unix socket has no reset. A reset after our orderly end would come too late, fail in Node,
 * and leave the socket without its 'close'.
 */
export function canReset(socket: ConnectedSocket): boolean {
  if (socket.writableEnded) return false
  return !(socket instanceof net.Socket) || (!('encrypted' in socket) && socket.remotePort !== undefined)
}
