import http2, { type ClientHttp2Stream } from 'node:http2'
import type { BodyMemory } from '../body/body-memory.ts'
import { LATE_WAITING, type Waiting } from '../connect/waiting-line.ts'
import type { Failure, FailureCode } from '../failure.ts'
import { Head } from '../http/head.ts'
import { announcedLength, isIdempotent } from '../http/request-rules.ts'
import { type LimitKeeper, ResponseLimit } from '../http/response-limit.ts'
import { MAX_INTERIM_RESPONSES, RESPONSE_LIMITS } from '../limits.ts'
import type { Carried, Carrier } from '../node-http2/carrier.ts'
import { sawEndOfStream, watchEndOfStream } from '../node-http2/end-of-stream.ts'
import { cancelStream } from '../node-http2/reset-stream.ts'
import {
  type Abort,
  BODY_CHUNKED,
  BODY_LENGTH,
  BODY_NONE,
  type BodyKind,
  type ClientHandler,
  type ClientStream,
  type Framing,
} from '../stream.ts'
import { BodyReader, type ReaderOwner } from './body-reader.ts'
import { faultOf } from './connection-fault.ts'
import { listBytes, readResponseFields, readTrailerFields, requestFields } from './heads.ts'
import { RequestWriter, type RequestWriterOwner } from './request-writer.ts'

const { NGHTTP2_PROTOCOL_ERROR, NGHTTP2_REFUSED_STREAM, NGHTTP2_FLAG_END_STREAM, NGHTTP2_STREAM_STATE_IDLE } =
  http2.constants

/** How often a request is sent again that the server declared unprocessed. */
const MAX_REPLAYS = 3

/** Credentials of one client must not enter the compression state that it shares with others (RFC 7541, 7.1.3). */
const NEVER_INDEXED = ['authorization', 'proxy-authorization', 'cookie']

const NOT_HTTP2 = { code: 'not-http2', detail: 'the response of the server is not HTTP/2' } as const

/** No response head yet; assigned to a session or waiting for one. */
const WAITING = 0
/** Response head delivered; its body is being read. */
const READING = 1
const OVER = 2

const EXCHANGE = Symbol('exchange')

/**
 * Node keeps a stream long after its end, often until the old generation is collected. It refers to its exchange only by this slot, which is emptied
 * when they part; else it would keep the whole request in memory as long.
 */
interface ExchangeStream extends ClientHttp2Stream {
  [EXCHANGE]?: ClientExchange | null
}

/** The connection group of an exchange. */
export interface ExchangeOwner extends LimitKeeper {
  /** Assigns `exchange` to a session again, now or as soon as there is room. */
  replay(exchange: ClientExchange): void
  /** All permitted sessions are busy. */
  readonly isFull: boolean
  /** `exchange` no longer waits for a session. */
  withdraw(exchange: ClientExchange): void
}

/** The parameters of a request in addition to its head. */
export interface ExchangeRequest {
  readonly head: Head
  readonly scheme: 'http' | 'https'
  readonly framing: Framing
  readonly handler: ClientHandler
  readonly context: unknown
  readonly bodyMemory: BodyMemory
}

/** One request and its response, independent of the session. */
export class ClientExchange implements ClientStream, ReaderOwner, RequestWriterOwner, Carried, Waiting {
  /** For the session. */
  previous: Carried | null = null
  next: Carried | null = null
  readonly head: Head = new Head()
  readonly body: BodyReader = new BodyReader(this)
  readonly request: RequestWriter
  /** Size of the request head (RFC 9113, 6.5.2). */
  readonly headBytes: number
  trailers: Head | undefined
  context: unknown
  /** Time limit until the response head. */
  readonly limit: ResponseLimit
  readonly #owner: ExchangeOwner
  readonly #fields: string[]
  readonly #handler: ClientHandler
  readonly #forHead: boolean
  readonly #idempotent: boolean
  #session: Carrier | null = null
  #stream: ExchangeStream | null = null
  #phase: typeof WAITING | typeof READING | typeof OVER = WAITING
  #replays = 0
  /** Number of received interim responses. */
  #interim = 0

  constructor(owner: ExchangeOwner, { head, scheme, framing, handler, context, bodyMemory }: ExchangeRequest) {
    const { method } = head
    this.#owner = owner
    this.#handler = handler
    this.#fields = requestFields(head, scheme, announcedLength(head, framing))
    this.headBytes = listBytes(this.#fields)
    Object.assign(this.#fields, { [http2.sensitiveHeaders]: NEVER_INDEXED })
    this.#forHead = method === 'HEAD'
    this.#idempotent = isIdempotent(head)
    this.context = context
    this.request = new RequestWriter(this, framing, bodyMemory)
    this.limit = new ResponseLimit(owner, this.request, () => this.#expire())
  }

  get awaitsRoom(): boolean {
    return this.#phase === WAITING && this.#session === null && this.#owner.isFull
  }

  cancel(): void {
    if (this.#phase === OVER) return
    this.#leave()
    this.body.abort('cancelled')
  }

  release(): boolean {
    return false
  }

  /** The session failed or the time limit passed. @param code the reason if there is no response */
  fail(why: Abort, code: FailureCode = why): void {
    this.#end(why, this.#stream !== null, code)
  }

  /** No session could be opened. */
  failUnsent({ code, detail }: Omit<Failure, 'maybeProcessed'>): void {
    if (this.#phase === OVER) return
    this.#leave()
    this.#handler.failed(this, { code, detail, maybeProcessed: false })
  }

  /** Sends the request on `session`. Throws if the runtime rejects its head. */
  start(session: Carrier): void {
    const endStream = this.request.kind === BODY_NONE
    const stream: ExchangeStream = session.open(this.#fields, { endStream, waitForTrailers: this.request.mayTrail })
    this.#session = session
    this.#stream = stream
    stream[EXCHANGE] = this
    watchEndOfStream(stream)
    stream.on('response', ClientExchange.#onResponse)
    stream.on('headers', ClientExchange.#onHeaders)
    stream.on('trailers', ClientExchange.#onTrailers)
    stream.on('end', ClientExchange.#onEnd)
    // 'close' follows every error and is handled instead.
    stream.on('error', ignore)
    stream.on('close', ClientExchange.#onClose)
    this.request.attach(stream)
  }

  // The listeners are the same for all streams.

  static readonly #onResponse = function (
    this: ExchangeStream,
    _: unknown,
    flags: number,
    fields: readonly string[],
  ): void {
    const exchange = this[EXCHANGE]
    if (exchange) exchange.#takeResponse(fields, (flags & NGHTTP2_FLAG_END_STREAM) !== 0)
  }

  static readonly #onHeaders = function (
    this: ExchangeStream,
    _: unknown,
    __: unknown,
    fields: readonly string[],
  ): void {
    const exchange = this[EXCHANGE]
    if (exchange) exchange.#takeInterim(fields)
  }

  static readonly #onTrailers = function (
    this: ExchangeStream,
    _: unknown,
    __: unknown,
    fields: readonly string[],
  ): void {
    const exchange = this[EXCHANGE]
    if (exchange) exchange.#takeTrailers(fields)
  }

  static readonly #onEnd = function (this: ExchangeStream): void {
    const exchange = this[EXCHANGE]
    if (exchange && sawEndOfStream(this)) exchange.#complete()
  }

  static readonly #onClose = function (this: ExchangeStream): void {
    const exchange = this[EXCHANGE]
    if (exchange) exchange.#closed(this)
  }

  /** The session exceeds the stream limit, and nothing was sent: the exchange moves to another session, or waits. */
  recall(): void {
    const stream = this.#stream
    if (this.#phase !== WAITING || stream?.state.state !== NGHTTP2_STREAM_STATE_IDLE) return
    if (!this.request.isWhole) return
    this.#detach()
    cancelStream(stream)
    this.#owner.replay(this)
  }

  // Called by the reader and the writer.

  /** Responses have no body timeout. */
  bodyWanted(): void {}

  messageWritten(): void {
    this.limit.requestSent()
  }

  messageCut(why: Abort): void {
    // Cancelled by the gateway: no response is expected.
    if (why === 'cancelled') this.cancel()
    else this.fail(why, 'request-incomplete')
  }

  #takeInterim(fields: readonly string[]): void {
    const interim = new Head()
    const bad = readResponseFields(fields, interim, RESPONSE_LIMITS) < 0
    // HTTP/2 has no 101 (RFC 9113, 8.6).
    if (bad || interim.status === 101 || ++this.#interim > MAX_INTERIM_RESPONSES) return this.#refuse()
    this.#handler.informed(this, interim)
  }

  #takeResponse(fields: readonly string[], ended: boolean): void {
    const { head } = this
    if (this.#phase !== WAITING) return this.#refuse()
    if (readResponseFields(fields, head, RESPONSE_LIMITS) < 0 || head.status < 200) return this.#refuse()
    if (ended && this.#handler.isComplete?.(this) === false) return this.#refuse()
    const kind = this.#responseKind(ended)
    this.limit.stop()
    this.#phase = READING
    this.request.forgetWhole()
    const stream = this.#stream!
    this.body.start(stream, kind, head.contentLength)
    // Node emits 'end' only if the stream is read.
    if (kind === BODY_NONE) stream.resume()
    this.#handler.response(this)
  }

  #takeTrailers(fields: readonly string[]): void {
    const trailers = new Head()
    if (readTrailerFields(fields, trailers, RESPONSE_LIMITS) < 0) return this.#refuse()
    this.trailers = trailers
    this.#handler.trailed?.(this, trailers)
  }

  #responseKind(ended: boolean): BodyKind {
    const { head } = this
    if (ended || this.#forHead || head.status === 204 || head.status === 304) return BODY_NONE
    return head.contentLength < 0 ? BODY_CHUNKED : BODY_LENGTH
  }

  #refuse(): void {
    this.#end('protocol-error', true)
  }

  #expire(): void {
    if (this.awaitsRoom) return this.failUnsent(LATE_WAITING)
    const session = this.#session
    this.fail('timeout')
    session?.suspect()
  }

  /** The response is complete. The session frees the stream before the receiver gets the end. */
  #complete(): void {
    if (this.#handler.isComplete?.(this) === false) return this.#refuse()
    // The receiver of the response stops a request body that is still being sent.
    this.#leave()
    this.body.end(this.trailers)
  }

  /** The stream closed before its response was complete. */
  #closed(stream: ClientHttp2Stream): void {
    const session = this.#session!
    const untouched = stream.rstCode === NGHTTP2_REFUSED_STREAM || session.leftAlone(stream.id)
    if (this.#mayReplay(untouched, session)) {
      this.#replays++
      this.#detach()
      this.#handler.replayed(this, untouched ? 'not-processed' : 'stale-connection')
      return this.#owner.replay(this)
    }
    if (session.isForeign) return this.failUnsent(NOT_HTTP2)
    this.#end(isMalformed(stream) ? 'protocol-error' : 'reset', !untouched)
  }

  /**
   * Whether the request can be sent again. That is always allowed if the server has not begun to process it (RFC 9113, 8.7). If a
   * reused session closed, possibly as idle, one further attempt is allowed for an idempotent request.
   */
  #mayReplay(untouched: boolean, session: Carrier): boolean {
    if (this.#phase !== WAITING || !this.request.isWhole) return false
    if (untouched) return this.#replays < MAX_REPLAYS && this.#handler.resends?.(this) !== false
    return session.ended && session.reused && this.#idempotent && this.#replays === 0
  }

  #end(why: Abort, maybeProcessed: boolean, code: FailureCode = why): void {
    if (this.#phase === OVER) return
    const wasWaiting = this.#phase === WAITING
    const isUnspoken = this.#session?.begun === false
    this.#leave()
    const failure: Failure = { code, detail: undefined, maybeProcessed }
    if (wasWaiting) this.#handler.failed(this, isUnspoken ? { ...failure, unspoken: true } : failure)
    else this.body.abort(why)
  }

  #leave(): void {
    const stream = this.#stream
    this.#phase = OVER
    this.limit.stop()
    this.request.close()
    if (this.#session === null) this.#owner.withdraw(this)
    this.#detach()
    if (stream !== null && !(stream.writableFinished && stream.readableEnded)) cancelStream(stream)
  }

  /** Detaches from the stream; its later events are ignored. */
  #detach(): void {
    const session = this.#session
    if (this.#stream !== null) this.#stream[EXCHANGE] = null
    this.#session = null
    this.#stream = null
    session?.leave(this)
  }
}

function ignore(): void {}

/** Whether a stream ended because the server broke the protocol, on the stream or on its connection. */
function isMalformed({ rstCode, errored }: ClientHttp2Stream): boolean {
  if (rstCode === NGHTTP2_PROTOCOL_ERROR) return true
  const fault = errored === null ? undefined : faultOf(errored)
  // The other one is a GOAWAY with an error.
  return fault === 'http2-protocol-error' || fault === 'http2-flood'
}
