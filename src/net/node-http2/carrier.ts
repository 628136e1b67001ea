import type { ClientHttp2Stream, ClientSessionRequestOptions } from 'node:http2'
import type { Linked } from '#base/linked-list.ts'

/** An exchange of a session. */
export interface Carried extends Linked<Carried> {
  /** Opens its stream on the session. Throws if the runtime rejects its head. */
  start(session: Carrier): void
  /** The session exceeds the stream limit: the exchange moves to another session, if nothing was sent. */
  recall(): void
}

/** The session of an exchange. */
export interface Carrier {
  /** The session has carried an exchange before, so the server may be closing it as idle. */
  readonly reused: boolean
  /** The connection has closed. */
  readonly ended: boolean
  /** The server has sent its SETTINGS, so it speaks HTTP/2. */
  readonly begun: boolean
  /** The server has not sent valid HTTP/2, not even its SETTINGS. */
  readonly isForeign: boolean
  /** Opens a stream. Throws if the runtime rejects the fields. */
  open(fields: readonly string[], options: ClientSessionRequestOptions): ClientHttp2Stream
  /** Whether the GOAWAY of the server declares that stream unprocessed (RFC 9113, 6.8). */
  leftAlone(streamId: number | undefined): boolean
  /** Sends a PING, and closes the connection if there is no reply. */
  suspect(): void
  /** The exchange was detached. */
  leave(exchange: Carried): void
}
