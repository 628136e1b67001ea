import type { Destination } from './destination.ts'
import type { Abort, ConnectFailure, Failure, ReplayCause } from './failure.ts'
import type { Head } from './http/head.ts'
import type { Peer } from './peer.ts'

/** How a message body is delimited (RFC 9112, 6). */
export const BODY_NONE = 0
export const BODY_LENGTH = 1
export const BODY_CHUNKED = 2
/** Ends with the connection; responses only. */
export const BODY_CLOSE = 3
export type BodyKind = typeof BODY_NONE | typeof BODY_LENGTH | typeof BODY_CHUNKED | typeof BODY_CLOSE

export type { Abort }

/**
 * Takes the bytes of one body in order. `bytes` may keep nothing of `buffer` after it returns: the memory is shared by all
 * connections of the worker. When `backed` is true the giver pauses until the sink calls `source.resume()`.
 */
export interface BodySink {
  /** True while more bytes would have to be queued in memory. */
  readonly backed: boolean
  /** Set by `BodySource.pipe`; resumed by the sink when it has drained. */
  source: BodySource | null
  /** True when the sink takes chunk framing as it came from the wire (both sides HTTP/1.1 chunked, nothing to look at). */
  readonly takesFramed: boolean
  /** Set by `BodySource.pipe` on a sink that takes framed bytes: whether they come framed. Others need not declare it. */
  framed?: boolean
  bytes(buffer: Buffer, start: number, end: number): void
  /** `trailers`: the fields behind the body, where the source gives them. They are read at once. */
  end(trailers?: Head): void
  abort(why: Abort): void
}

/**
 * Gives the bytes of one body to one sink. Nothing is read from the peer before `pipe`; bytes and the end may be given before
 * `pipe` returns. Only HTTP/2 carries trailers, and gives them to HTTP/2: those of HTTP/1 are checked and dropped
 * (docs/decisions/0120-wire.md).
 */
export interface BodySource {
  readonly kind: BodyKind
  /** Announced length in bytes; -1 when unknown. */
  readonly length: number
  /** Trailers may follow. A source without this flag ends with its last byte. */
  readonly trails?: boolean
  pipe(sink: BodySink): void
  pause(): void
  resume(): void
}

/** The body of a request as it comes from the client. */
export interface RequestBody extends BodySource {
  /** All of it has come. */
  readonly done: boolean
  /** The body has a consumer for further bytes. */
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
  /** Slot of the handler for its own record of this request. */
  context: unknown
  /**
   * Sends the response head. It leaves together with the first body bytes or at the end of the current turn, in one write.
   * Framing fields are written by the stream from `kind` and `length`; whatever `head` says about them is ignored.
   * HEAD requests and 204/304 send no body whatever `kind` says; there, BODY_NONE with a length announces that length.
   * Every response, also one without a body, is complete with `response.end()`, which `body.pipe` calls. `head` is read at
   * once and may change afterwards.
   * @returns false when the connection takes no head of that size: nothing was sent, and another response may be
   */
  respond(head: Head, kind: BodyKind, length: number): boolean
  /** Sends an interim response (100, 103), unless it is too large for the connection. */
  inform(head: Head): void
  /**
   * Accepts the upgrade that `this.head.upgrade` asked for: sends `head` (a 101) and relays bytes both ways between this
   * connection and `upstream`. Throws when the request asked for none.
   */
  tunnel(head: Head, upstream: ClientStream): void
  /** Closes without or in the middle of an answer. */
  abort(): void
}

/** Name and value of a response field. */
export type ResponseField = readonly [name: string, value: string]

/** What a listener does with requests. One object serves all connections. */
export interface StreamHandler {
  /** A complete request head; the handler answers now or later with `stream.respond`. */
  request(stream: ServerStream): void
  /**
   * The response has been handed over completely (or the tunnel has ended). `sentBytes`: body bytes sent to the client. When the
   * request body has not ended yet, its sink is aborted next: cancel an upstream request that is still going on.
   */
  finished(stream: ServerStream, sentBytes: number): void
  /**
   * The client left, or the connection failed, before the response ended; also after `stream.abort()`. Cancel what was sent
   * upstream for it.
   * @param cut the source of the response body broke it off; the client and its connection are not the cause
   */
  aborted(stream: ServerStream, why: Abort, cut: boolean): void
  /**
   * A request that was refused below HTTP semantics (malformed, too large, too slow): the stream answers it itself, and then aborts
   * the request that it is at work on.
   * @param stream undefined when `request` was not called for it
   * @returns a field to add to the answer, if any
   */
  refused(peer: Peer, code: WireRefusal, stream: ServerStream | undefined): ResponseField | undefined
  /** A connection ends for a fault of its client; requests on it are aborted. @param detail never what a client wrote */
  broken(peer: Peer, fault: ConnectionFault, detail: string): void
}

/** A connection whose bytes are relayed as they are (TCP and TLS routes). Nothing of it is read before `tunnel`. */
export interface RelayedConnection {
  readonly peer: Peer
  /** Slot of the handler for its own record of this connection. */
  context: unknown
  /** Relays both ways until both directions have ended. */
  tunnel(upstream: ClientStream): void
  /** Closes now, such that the peer cannot take it for an orderly end. */
  abort(): void
}

/** What a listener does with connections that are relayed. One object serves all of them. */
export interface RelayHandler {
  /** The handler connects somewhere and then calls `tunnel`, or `abort`. */
  accepted(connection: RelayedConnection): void
  /** End of the connection; called once. `why`: undefined when both directions ended normally. Cancel everything started for it. */
  closed(connection: RelayedConnection, receivedBytes: number, sentBytes: number, why: Abort | undefined): void
}

/** Refusals of the wire; they are rejection codes of `base/rejections.ts`. */
export type WireRefusal =
  | 'malformed-request'
  | 'host-invalid'
  | 'request-timeout-reading'
  | 'uri-too-long'
  | 'headers-too-large'
  | 'expectation-failed'
  | 'version-not-supported'
  | 'method-not-implemented'

/** Why a connection of HTTP/2 was ended: nothing of it became a request, and nothing answers it (docs/behaviour/http.md, "Refusals"). */
export type ConnectionFault =
  /** The client broke the protocol. */
  | 'http2-protocol-error'
  /** It sent too much of what means nothing. */
  | 'http2-flood'
  /** It ended the connection with an error of its own. */
  | 'http2-client-error'

/** One request to an upstream connection and its response. */
export interface ClientStream {
  /** The final response head; valid in and after `ClientHandler.response`. */
  readonly head: Head
  readonly body: BodySource
  /** The trailers, once the body has ended with some; HTTP/2 only. */
  readonly trailers: Head | undefined
  /** The request body; valid after `request`. */
  readonly request: BodySink
  /** All permitted connections are busy: the request is queued, and nothing of it was sent. */
  readonly awaitsRoom: boolean
  context: unknown
  /** Gives up: an HTTP/1 connection is not reused, an HTTP/2 stream is reset. No further call is made. */
  cancel(): void
  /**
   * Promises that nobody looks at this stream or its head again, so that the worker may use the objects for another request.
   * Optional; for the hot path. Has no effect before the exchange is over.
   */
  release(): void
}

/** What happens to a request that was sent upstream. Exactly one of `response`, `upgraded` and `failed` is called, once. */
export interface ClientHandler {
  response(stream: ClientStream): void
  /** 1xx other than 101. */
  informed(stream: ClientStream, head: Head): void
  /** The trailers of the response, before they are forwarded: the handler may remove fields. */
  trailed?(stream: ClientStream, trailers: Head): void
  /**
   * 101 to some protocol, asked for or not: compare `stream.head.upgrade` with the protocol that was asked for, then `ServerStream.tunnel` takes
   * it from here, or `cancel`.
   */
  upgraded(stream: ClientStream): void
  /** The connection sends the request again on its own; no part of a response has arrived so far. */
  replayed(stream: ClientStream, cause: ReplayCause): void
  /** No response head arrived. */
  failed(stream: ClientStream, failure: Failure): void
}

/** What happens to a connection without requests. Exactly one of `connected` and `failed` is called, once. */
export interface ConnectHandler {
  /** Bytes of the server are `stream.body`; bytes for the server go to `stream.request`. They end independently. */
  connected(stream: ClientStream): void
  failed(stream: ClientStream, failure: ConnectFailure): void
  /** The connection broke after its body had come to an orderly end: nothing arrives there any more. */
  broken(stream: ClientStream, why: Abort): void
}

/** How a request leaves: how its body is delimited, and the protocol of an HTTP/1 upgrade, if it asks for one. */
export interface Framing {
  readonly kind: BodyKind
  /** Announced length in bytes; -1 when unknown. */
  readonly length: number
  readonly upgrade?: string
  /** The time for the response does not run while the body makes progress. */
  readonly patient?: boolean
  /** Fields that it admits may follow the body; without it, and over HTTP/1, none do. */
  readonly trailers?: TrailerGate | undefined
}

/** Says which fields may follow a body. */
export interface TrailerGate {
  admits(lowerName: string): boolean
}

/** A pool of upstream connections of one worker. */
export interface ClientPool {
  /**
   * Sends a request head; the body follows through the returned stream's `request` sink. Framing fields are written from
   * `framing`; with BODY_NONE the request leaves at once and needs no `request.end()`. `head` is read at once and may change
   * afterwards. No call is made to `handler` before `send` returns. `responseTimeoutMs`: from sending to the response head (0:
   * none).
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
   * Opens a connection that carries bytes as they are, and that nobody else uses. No call is made to `handler` before `connect`
   * returns.
   */
  connect(destination: Destination, handler: ConnectHandler, context: unknown): ClientStream
  /** Closes idle connections now and busy ones when they finish. */
  close(): void
}
