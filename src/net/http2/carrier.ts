import type { ClientHttp2Stream, ClientSessionRequestOptions } from 'node:http2'

/** An exchange as its session knows it. */
export interface Carried {
  /** The session has no room for it: it goes elsewhere, if nothing of it has left. */
  recall(): void
}

/** The interface of a session for the exchange that it carries. */
export interface Carrier {
  /** It has served an exchange before, so the server may be closing it right now. */
  readonly reused: boolean
  /** The connection is gone. */
  readonly ended: boolean
  /** What the server sent was no HTTP/2, not even its beginning. */
  readonly isForeign: boolean
  /** Opens a stream. Throws when the runtime does not take the fields. */
  open(fields: readonly string[], options: ClientSessionRequestOptions): ClientHttp2Stream
  /** Whether the server declared that stream unprocessed (RFC 9113, 6.8). */
  leftAlone(streamId: number | undefined): boolean
  /** Sends a PING, and closes the connection if there is no reply. */
  suspect(): void
  /** The exchange has left, for better or worse. */
  leave(exchange: Carried): void
}
