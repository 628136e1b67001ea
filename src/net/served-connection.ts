import type net from 'node:net'
import type { Peer } from './stream.ts'

/** A connection at work, as its listener sees it: whatever protocol it speaks. */
export interface ServedConnection {
  /** Takes nothing new, finishes what is under way, then closes. */
  drain(): void
  /** Closes now. */
  abort(): void
}

/**
 * Serves another protocol than HTTP/1 on a socket. The socket is paused, and is as though nothing had been read of it: what was
 * read to find out the protocol is read again. Under TLS it is the decrypted one. `onClosed` is called once, later.
 */
export type ServeProtocol = (
  socket: net.Socket,
  peer: Peer,
  onClosed: (connection: ServedConnection) => void,
) => ServedConnection
