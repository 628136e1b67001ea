import http2, { type ClientHttp2Stream } from 'node:http2'
import type { BodyMemory } from '../body/body-memory.ts'
import { LATE_WAITING, type Waiting } from '../connect/waiting-line.ts'
import type { Failure } from '../failure.ts'
import { Head } from '../http/head.ts'
import { announcedLength, isIdempotent } from '../http/request-rules.ts'
import { type LimitKeeper, ResponseLimit } from '../http/response-limit.ts'
import { MAX_INTERIM_RESPONSES, RESPONSE_LIMITS } from '../limits.ts'
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
import type { Carried, Carrier } from './carrier.ts'
import { watchEndOfStream } from './end-of-stream.ts'
import { listBytes, readResponseFields, readTrailerFields, requestFields } from './heads.ts'
import { RequestWriter, type RequestWriterOwner } from './request-writer.ts'
import { cancelStream } from './reset-stream.ts'

const { NGHTTP2_PROTOCOL_ERROR, NGHTTP2_REFUSED_STREAM, NGHTTP2_FLAG_END_STREAM, NGHTTP2_STREAM_STATE_IDLE } =
  http2.constants

/** A request that the server left alone is sent again so often. */
const MAX_REPLAYS = 3

/** Secrets of one client stay out of the compression state that it shares with others (RFC 7541, 7.1.3). */
const NEVER_INDEXED = ['authorization', 'proxy-authorization', 'cookie']

const NOT_HTTP2 = { code: 'not-http2', detail: 'the response of the server is not HTTP/2' } as const

/** No response head yet; on a session or waiting for one. */
const WAITING = 0
/** Response head delivered; its body is being read. */
const READING = 1
const OVER = 2

/** What an exchange needs of the sessions that may carry it. */
export interface ExchangeOwner extends LimitKeeper {
  /** Has `exchange` carried by a session once more, now or as soon as there is room. */
  replay(exchange: ClientExchange): void
  /** As many sessions as there may be are busy. */
  readonly isFull: boolean
  /** It waits for no session any more. */
  withdraw(exchange: ClientExchange): void
}

/** What a request is besides its head. */
export interface ExchangeRequest {
  readonly head: Head
  readonly scheme: 'http' | 'https'
  readonly framing: Framing
  readonly handler: ClientHandler
  readonly context: unknown
  readonly bodyMemory: BodyMemory
}

/** One request and its response on whatever session carries it. */
export class ClientExchange implements ClientStream, ReaderOwner, RequestWriterOwner, Carried, Waiting {
  readonly head: Head = new Head()
  readonly body: BodyReader = new BodyReader(this)
  readonly request: RequestWriter
  /** Size of the request head, as RFC 9113, 6.5.2 counts it. */
  readonly headBytes: number
  trailers: Head | undefined
  context: unknown
  /** Of the time until the response head. */
  readonly limit: ResponseLimit
  readonly #owner: ExchangeOwner
  readonly #fields: string[]
  readonly #handler: ClientHandler
  readonly #forHead: boolean
  readonly #idempotent: boolean
  #session: Carrier | null = null
  #stream: ClientHttp2Stream | null = null
  #phase: typeof WAITING | typeof READING | typeof OVER = WAITING
  #replays = 0
  /** Interim responses that have come. */
  #interim = 0

  constructor(owner: ExchangeOwner, { head, scheme, framing, handler, context, bodyMemory }: ExchangeRequest) {
    const { method } = head
    this.#owner = owner
    this.#handler = handler
    this.#fields = requestFields(head, scheme, announcedLength(head, framing))
    this.headBytes = listBytes(this.#fields)
    Object.assign(this.#fields, { [http2.sensitiveHeaders]: NEVER_INDEXED })
    this.#forHead = method === 'HEAD'
    this.#idempotent = isIdempotent(method)
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

  release(): void {}

  /** The session that carried it had to be given up, or the time is up. */
  fail(why: Abort): void {
    this.#end(why, this.#stream !== null)
  }

  /** No session can be had. */
  failUnsent({ code, detail }: Omit<Failure, 'maybeProcessed'>): void {
    if (this.#phase === OVER) return
    this.#leave()
    this.#handler.failed(this, { code, detail, maybeProcessed: false })
  }

  /** Sends the request on `session`. Throws when the runtime does not take its head. */
  start(session: Carrier): void {
    const endStream = this.request.kind === BODY_NONE
    const stream = session.open(this.#fields, { endStream, waitForTrailers: this.request.mayTrail })
    this.#session = session
    this.#stream = stream
    const seesEnd = watchEndOfStream(stream)
    stream.on('response', (_, flags, fields) => {
      if (this.#stream === stream) this.#takeResponse(fields, (flags & NGHTTP2_FLAG_END_STREAM) !== 0)
    })
    stream.on('headers', (_, __, fields) => {
      if (this.#stream === stream) this.#takeInterim(fields)
    })
    stream.on('trailers', (_, __, fields) => {
      if (this.#stream === stream) this.#takeTrailers(fields)
    })
    stream.on('end', () => {
      if (this.#stream === stream && seesEnd()) this.#complete()
    })
    // 'close' follows every error and says all that is needed.
    stream.on('error', () => {})
    stream.on('close', () => {
      if (this.#stream === stream) this.#closed(stream)
    })
    this.request.attach(stream)
  }

  /** Nothing of it has left, and the session has no room for it: it goes elsewhere, or waits. */
  recall(): void {
    const stream = this.#stream
    if (this.#phase !== WAITING || stream?.state.state !== NGHTTP2_STREAM_STATE_IDLE) return
    if (!this.request.isWhole) return
    this.#detach()
    cancelStream(stream)
    this.#owner.replay(this)
  }

  // What the reader and the writer call.

  /** A response may take its time. */
  bodyWanted(): void {}

  messageWritten(): void {
    this.limit.requestSent()
  }

  messageCut(why: Abort): void {
    // Given up on our side, nobody waits for an answer.
    if (why === 'cancelled') this.cancel()
    else this.fail(why)
  }

  #takeInterim(fields: readonly string[]): void {
    const interim = new Head()
    const bad = readResponseFields(fields, interim, RESPONSE_LIMITS) < 0
    // There is nothing to switch to (RFC 9113, 8.6).
    if (bad || interim.status === 101 || ++this.#interim > MAX_INTERIM_RESPONSES) return this.#refuse()
    this.#handler.informed(this, interim)
  }

  #takeResponse(fields: readonly string[], ended: boolean): void {
    const { head } = this
    if (this.#phase !== WAITING) return this.#refuse()
    if (readResponseFields(fields, head, RESPONSE_LIMITS) < 0 || head.status < 200) return this.#refuse()
    const kind = this.#responseKind(ended)
    this.limit.stop()
    this.#phase = READING
    this.request.forgetWhole()
    const stream = this.#stream!
    this.body.start(stream, kind, kind === BODY_CHUNKED ? -1 : head.contentLength)
    // The end of a stream is told only to those who read.
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

  /** The response is complete. The session has room again before the receiver hears of it. */
  #complete(): void {
    // Whoever is still sending the request is told by the receiver of the response.
    this.#leave()
    this.body.end(this.trailers)
  }

  /** The stream is gone before its response was complete. */
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
    const why = stream.rstCode === NGHTTP2_PROTOCOL_ERROR ? 'protocol-error' : 'reset'
    this.#end(why, !untouched)
  }

  /**
   * What the server has not begun to process may be sent again, whatever it is (RFC 9113, 8.7). A session that closed under an
   * idempotent request, as idle ones do, allows one more try.
   */
  #mayReplay(untouched: boolean, session: Carrier): boolean {
    if (this.#phase !== WAITING || !this.request.isWhole) return false
    if (untouched) return this.#replays < MAX_REPLAYS
    return session.ended && session.reused && this.#idempotent && this.#replays === 0
  }

  #end(why: Abort, maybeProcessed: boolean): void {
    if (this.#phase === OVER) return
    const wasWaiting = this.#phase === WAITING
    this.#leave()
    if (wasWaiting) this.#handler.failed(this, { code: why, detail: undefined, maybeProcessed })
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

  /** Lets go of the stream, whose events are nobody's from now on. */
  #detach(): void {
    const session = this.#session
    this.#session = null
    this.#stream = null
    session?.leave(this)
  }
}
