import type { Destination } from './destination.ts'
import type { Abort, ConnectFailure, Failure, ReplayCause } from './failure.ts'
import type { BodyKind, Framing } from './http/framing.ts'
import type { Head } from './http/head.ts'
import type { WireRefusal } from './http/head-outcome.ts'
import type { Peer } from './peer.ts'

export {
  BODY_CHUNKED,
  BODY_CLOSE,
  BODY_LENGTH,
  BODY_NONE,
  type BodyKind,
  type Framing,
  type TrailerGate,
} from './http/framing.ts'
export type { WireRefusal } from './http/head-outcome.ts'
export type { Abort }

/**
 * Receives the bytes of one body in order. `bytes` must not keep references to `buffer` after it returns: all connections of the
 * worker share the memory. While `backed` is true, the source pauses until the sink calls `source.resume()`.
 */
export interface BodySink {
  /** True while more bytes would have to be queued in memory. */
  readonly backed: boolean
  /** Set by `BodySource.pipe`; resumed by the sink when it has drained. */
  source: BodySource | null
  /** True if the sink accepts chunk framing as received (both sides are HTTP/1.1 chunked, and nothing reads the body). */
  readonly takesFramed: boolean
  /** Whether the bytes are chunk-framed. Set by `BodySource.pipe` on a sink with `takesFramed`; other sinks need not declare it. */
  framed?: boolean
  bytes(buffer: Buffer, start: number, end: number): void
  /** @param trailers the trailers, if there are any; read before this returns */
  end(trailers?: Head): void
  abort(why: Abort): void
}

/**
 * Delivers the bytes of one body to one sink. Little is read from the peer before `pipe`, so that a disconnect is noticed; bytes and the end may be delivered before
 * `pipe` returns. Trailers are forwarded only between HTTP/2 connections; those of HTTP/1 are checked and dropped
 * (docs/decisions/0120-wire.md).
 */
export interface BodySource {
  readonly kind: BodyKind
  /** Announced length in bytes; -1 if unknown. */
  readonly length: number
  /** Trailers may follow. A source without this flag ends with its last byte. */
  readonly trails?: boolean
  pipe(sink: BodySink): void
  pause(): void
  resume(): void
}

/** A body that can be sent. The sink learns from `pipe` what to resume. */
export type SendableBody = Pick<BodySource, 'kind' | 'length' | 'trails' | 'pipe'>

/** A request body from a client. */
export interface RequestBody extends BodySource {
  /** All of it has been received. */
  readonly done: boolean
  /** The body has a consumer that accepts bytes. */
  readonly flowing: boolean
}

/**
 * One request and its response on an accepted connection. HTTP/1 keeps one such object per connection and reuses it for the
 * next request after `StreamHandler.finished`; do not keep a reference to it longer.
 */
export interface ServerStream {
  readonly peer: Peer
  /** The request as received; connection-level fields are already dropped from it (RFC 9110, 7.6.1). */
  readonly head: Head
  readonly body: RequestBody
  /** 1.0, 1.1 or 2. */
  readonly version: '1.0' | '1.1' | '2'
  /** The response body; valid after `respond`. */
  readonly response: BodySink
  /** For the handler's own state of this request. */
  context: unknown
  /**
   * Sends the response head, in one write with the first body bytes, or at the end of the current turn of the event loop. The stream
   * writes the framing fields from `kind` and `length` and ignores those in `head`. Responses to HEAD and with status 204 or 304 have
   * no body, independent of `kind`; BODY_NONE with a length announces that length there. Every response, even without a body, is
   * complete only after `response.end()`, which `body.pipe` calls. `head` is read before this returns and may change afterwards.
   * @returns false if the connection does not support a head of that size: nothing was sent, and another response can be sent
   */
  respond(head: Head, kind: BodyKind, length: number): boolean
  /**
   * Leaves the answer to `Expect: 100-continue` to the backend: its 100 comes with `inform`. Otherwise the stream sends 100 when the body
   * is first read.
   * @returns whether the client expects one that has not been sent
   */
  passExpectation(): boolean
  /** Sends an interim response, unless it is too large for the connection, or a 100 that the client does not expect. */
  inform(head: Head): void
  /**
   * Accepts the upgrade in `this.head.upgrade`: sends `head` (status 101) and relays bytes both ways between this connection and
   * `upstream`. Throws if the request has no upgrade.
   */
  tunnel(head: Head, upstream: TunnelEnd): void
  /**
   * From now on, a client that ends its direction of the connection has left: the request is aborted at once. Otherwise such a client may
   * still wait for the response. Only where the direction can end before the response: HTTP/1.
   */
  endWithClient?(): void
  /** Closes without a response, or in the middle of one. */
  abort(): void
}

/** Name and value of a response field. */
export type ResponseField = readonly [name: string, value: string]

/** Handles the requests of a listener. One object serves all connections. */
export interface StreamHandler {
  /** A request head is complete. The handler responds now or later with `stream.respond`. */
  request(stream: ServerStream): void
  /**
   * The response was handed to the transport completely, or the tunnel has ended. If the request body has not ended yet, its sink is
   * aborted next: the handler must cancel an upstream request in flight.
   * @param sentBytes body bytes sent to the client
   */
  finished(stream: ServerStream, sentBytes: number): void
  /**
   * The client disconnected or the connection failed before the response ended; also after `stream.abort()`. The handler must cancel
   * the upstream request.
   * @param cut the source of the response body aborted it; the client and its connection are not the cause
   */
  aborted(stream: ServerStream, why: Abort, cut: boolean): void
  /**
   * A request was refused by the wire protocol (malformed, too large, too slow). The stream sends the response itself, and then aborts
   * the request in progress.
   * @param stream undefined if `request` was not called for it
   * @returns a field to add to the response, if any
   */
  refused(peer: Peer, code: WireRefusal, stream: ServerStream | undefined): ResponseField | undefined
  /** A connection is closed because of a fault of its client; its requests are aborted. @param detail never contains text of the client */
  broken(peer: Peer, fault: ConnectionFault, detail: string): void
}

/** A connection whose bytes are relayed unchanged (TCP and TLS routes). Nothing is read before `tunnel`. */
export interface RelayedConnection {
  readonly peer: Peer
  /** For the handler's own state of this connection. */
  context: unknown
  /** Relays both ways until both directions have ended. */
  tunnel(upstream: ClientStream): void
  /** Closes now with a reset, so that the peer cannot mistake it for a normal end. */
  abort(): void
}

/** Handles the relayed connections of a listener. One object serves all of them. */
export interface RelayHandler {
  /** The handler connects to a backend and then calls `tunnel`, or `abort`. */
  accepted(connection: RelayedConnection): void
  /**
   * The connection has ended; called once. The handler must cancel everything that it started for the connection.
   * @param why undefined if both directions ended normally
   */
  closed(connection: RelayedConnection, receivedBytes: number, sentBytes: number, why: Abort | undefined): void
}

/** Why an HTTP/2 connection was closed. No request and no response belongs to the fault (docs/behaviour/http.md, "Refusals"). */
export type ConnectionFault =
  /** The client violated the protocol. */
  | 'http2-protocol-error'
  /** The client sent too many frames without effect. */
  | 'http2-flood'
  /** The client closed the connection with an error code. */
  | 'http2-client-error'

/** One request to an upstream connection and its response. */
export interface ClientStream {
  /** The final response head; valid in and after `ClientHandler.response`. */
  readonly head: Head
  readonly body: BodySource
  /** The trailers, if the body has ended with some; HTTP/2 only. */
  readonly trailers: Head | undefined
  /** The request body; valid after `request`. */
  readonly request: BodySink
  /** All permitted connections are busy: the request is queued, and nothing of it was sent. */
  readonly awaitsRoom: boolean
  context: unknown
  /** Cancels the request: an HTTP/1 connection is closed, an HTTP/2 stream is reset. The handler gets no further calls. */
  cancel(): void
  /**
   * Allows the pool to reuse this object and its head for another request. Optional. Has no effect before the exchange is over.
   * @returns whether it is allowed; then the caller must forget the object
   */
  release(): boolean
}

/** The end of a tunnel at the backend. */
export type TunnelEnd = Pick<ClientStream, 'body' | 'request' | 'cancel'>

/** Receives the events of an upstream request. Exactly one of `response`, `upgraded` and `failed` is called, once. */
export interface ClientHandler {
  response(stream: ClientStream): void
  /** An interim response: 1xx other than 101. */
  informed(stream: ClientStream, head: Head): void
  /** The trailers of the response have arrived. The handler may remove fields before they are forwarded. */
  trailed?(stream: ClientStream, trailers: Head): void
  /**
   * Whether a response that ends here is whole; otherwise it failed with `protocol-error`. Called with its trailers, or with the head if nothing
   * follows it. Unset: it is; HTTP/2 only.
   */
  isComplete?(stream: ClientStream): boolean
  /**
   * A response with status 101, requested or not. The handler must compare `stream.head.upgrade` with the requested protocol, then call
   * `ServerStream.tunnel` or `cancel`.
   */
  upgraded(stream: ClientStream): void
  /** Whether a request that its server did not process is sent to the same server again; otherwise it fails. Unset: it is sent. */
  resends?(stream: ClientStream): boolean
  /** The pool sends the request again; no part of a response has arrived. */
  replayed(stream: ClientStream, cause: ReplayCause): void
  /** No response head arrived. */
  failed(stream: ClientStream, failure: Failure): void
}

/** Receives the events of a connection without requests. Exactly one of `connected` and `failed` is called, once. */
export interface ConnectHandler {
  /** `stream.body` has the bytes from the server; `stream.request` takes the bytes for the server. They end independently. */
  connected(stream: ClientStream): void
  failed(stream: ClientStream, failure: ConnectFailure): void
  /** The connection failed after `stream.body` had ended normally. */
  broken(stream: ClientStream, why: Abort): void
}

/** A pool of upstream connections of one worker. */
export interface ClientPool {
  /**
   * Sends a request head; the body follows through the `request` sink of the returned stream. Framing fields are written from `framing`;
   * with BODY_NONE the request is complete without `request.end()`. `head` is read before this returns and may change afterwards.
   * `handler` is not called before `send` returns. `responseTimeoutMs`: from sending to the response head; 0: no limit.
   */
  send(
    destination: Destination,
    head: Head,
    framing: Framing,
    responseTimeoutMs: number,
    handler: ClientHandler,
    context: unknown,
  ): ClientStream
  /**
   * Opens an exclusive connection for raw bytes. `handler` is not called before `connect` returns.
   */
  connect(destination: Destination, handler: ConnectHandler, context: unknown): ClientStream
  /** Closes idle connections now and busy ones when they finish. */
  close(): void
}
