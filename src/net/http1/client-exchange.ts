import { LATE_WAITING } from '../connect/waiting-line.ts'
import type { ConnectFailure, FailureCode } from '../failure.ts'
import { Head } from '../http/head.ts'
import { isIdempotent } from '../http/request-rules.ts'
import { type LimitKeeper, ResponseLimit } from '../http/response-limit.ts'
import { MAX_INTERIM_RESPONSES } from '../limits.ts'
import {
  type Abort,
  BODY_CHUNKED,
  BODY_CLOSE,
  BODY_LENGTH,
  BODY_NONE,
  type BodyKind,
  type ClientHandler,
  type ClientStream,
} from '../stream.ts'
import type { Transport } from '../transport/transport.ts'
import { BodyReader, type ReaderOwner } from './body-reader.ts'
import { BodyWriter, type WriterOwner } from './body-writer.ts'
import type { Carrier } from './carrier.ts'

/** No response head yet. */
const WAITING = 0
/** Response head delivered; its body is being read. */
const READING = 1
const OVER = 2

/** The pool of an exchange. */
export interface ExchangeOwner extends LimitKeeper {
  /** Reuses the objects of a released exchange. */
  recycle(exchange: ClientExchange): void
}

/** One request and its response, independent of the connection. */
export class ClientExchange implements ClientStream, ReaderOwner, WriterOwner {
  readonly head: Head = new Head()
  readonly body: BodyReader = new BodyReader(this)
  /** Trailers of HTTP/1 are checked and dropped. */
  readonly trailers: undefined = undefined
  readonly request: BodyWriter = new BodyWriter(this, { keepsWhole: true })
  context: unknown
  /** Null when the exchange is over. */
  connection: Carrier | null = null
  readonly #owner: ExchangeOwner
  #limit: ResponseLimit | undefined
  #handler!: ClientHandler
  #phase: typeof WAITING | typeof READING | typeof OVER = OVER
  #forHead = false
  #idempotent = false
  #tunnel = false
  #released = false
  #replayed = false
  /** The server has not answered `Expect: 100-continue`. */
  #expects = false
  /** Number of received interim responses. */
  #interim = 0

  constructor(owner: ExchangeOwner) {
    this.#owner = owner
  }

  /** Time limit until the response head. */
  get limit(): ResponseLimit {
    this.#limit ??= this.#newLimit()
    return this.#limit
  }

  /** A function of its own: one with a closure in it allocates memory for the closure's variables in every call. */
  #newLimit(): ResponseLimit {
    return new ResponseLimit(this.#owner, this.request, () => this.#expire())
  }

  begin(head: Head, handler: ClientHandler, context: unknown): void {
    this.head.reset()
    this.context = context
    this.#handler = handler
    this.#phase = WAITING
    this.#forHead = head.method === 'HEAD'
    this.#idempotent = isIdempotent(head)
    this.#tunnel = false
    this.#released = false
    this.#replayed = false
    this.#expects = head.expectsContinue
    this.#interim = 0
  }

  /** The response body is being read. */
  get reading(): boolean {
    return this.#phase === READING
  }

  /** The text of the request if it can be replayed once after a stale connection: idempotent and completely in memory; '' otherwise. */
  get replayText(): string {
    return this.#phase === WAITING && this.#idempotent && !this.#replayed ? this.request.whole : ''
  }

  get awaitsRoom(): boolean {
    return this.connection?.awaitsRoom === true
  }

  cancel(): void {
    if (this.#phase === OVER) return
    this.#leave().destroy()
    this.body.abort('cancelled')
  }

  release(): boolean {
    if (this.#phase !== OVER) return false
    if (this.#released) return true
    this.#released = true
    this.context = undefined
    this.#owner.recycle(this)
    return true
  }

  // Called by the connection.

  informed(): void {
    if (++this.#interim > MAX_INTERIM_RESPONSES) return this.fail('protocol-error')
    if (this.head.status === 100) this.#expects = false
    this.#handler.informed(this, this.head)
  }

  /** `head` is a final response. @returns whether the connection can be reused after its body */
  takeResponse(): boolean {
    const kind = this.#responseKind()
    // A server that did not ask for the body may take it for its next request.
    const keep = !this.#expects && this.#endIsCertain(kind)
    this.#limit?.stop()
    this.#phase = READING
    this.request.forgetWhole()
    this.body.start(kind, this.head.contentLength)
    return keep
  }

  announceResponse(): void {
    this.#handler.response(this)
  }

  /** `head` is a 101: from now on, bytes are relayed both ways until both sides end. */
  upgraded(transport: Transport): void {
    this.#limit?.stop()
    this.#phase = READING
    this.#tunnel = true
    this.body.start(BODY_CLOSE, -1)
    this.request.start(transport, '', BODY_CLOSE, -1)
    this.#handler.upgraded(this)
  }

  /** The response is complete and the connection is detached. */
  finish(): void {
    this.#leave()
  }

  /** The connection failed or the time limit passed. @param code the reason if there is no response */
  fail(why: Abort, code: FailureCode = why): void {
    if (this.#phase === OVER) return
    const wasWaiting = this.#phase === WAITING
    const connection = this.#leave()
    connection.destroy()
    if (wasWaiting) this.#handler.failed(this, { code, detail: undefined, maybeProcessed: connection.connected })
    else this.body.abort(why)
  }

  /** No connection could be opened. */
  failUnsent(failure: ConnectFailure): void {
    if (this.#phase === OVER) return
    this.#leave().destroy()
    this.#handler.failed(this, { ...failure, maybeProcessed: false })
  }

  /** The request is sent again on another connection. */
  noteReplay(): void {
    this.#replayed = true
    this.#handler.replayed(this, 'stale-connection')
  }

  // Called by the reader and the writer.

  bodyWanted(): void {
    this.connection?.bodyWanted()
  }

  bodyHeld(): void {
    this.connection?.bodyHeld()
  }

  messageWritten(): void {
    this.#limit?.requestSent()
    // The end of a request is visible in its framing; the end of a tunnel direction is only visible as the end of the connection.
    if (this.#tunnel) this.connection!.endOutput()
  }

  messageCut(why: Abort): void {
    // Cancelled by the gateway: no response is expected.
    if (why === 'cancelled') this.cancel()
    else this.fail(why, 'request-incomplete')
  }

  #expire(): void {
    if (this.awaitsRoom) this.failUnsent(LATE_WAITING)
    else this.fail('timeout')
  }

  #leave(): Carrier {
    const connection = this.connection!
    this.#phase = OVER
    this.connection = null
    this.request.close()
    this.#limit?.stop()
    connection.abandonExchange()
    return connection
  }

  /**
   * Whether both sides agree on the end of this exchange. A server that frames responses differently from RFC 9112, 6.3 closes
   * afterwards, or sends bytes that would be parsed as the next response.
   */
  #endIsCertain(kind: BodyKind): boolean {
    const { head } = this
    // HTTP/1.0 servers may misread the framing of the request. A server that responds early may close without reading the rest.
    if (!head.keepAlive || head.http10 || kind === BODY_CLOSE || this.request.open) return false
    const announcesBody = head.chunked || head.contentLength > 0
    if (neverHasBody(head.status)) return !announcesBody
    // Without framing fields, the response to GET would end with the connection.
    return !this.#forHead || head.chunked || head.contentLength >= 0
  }

  #responseKind(): BodyKind {
    const { head } = this
    if (this.#forHead || neverHasBody(head.status)) return BODY_NONE
    if (head.chunked) return BODY_CHUNKED
    if (head.contentLength < 0) return BODY_CLOSE
    return head.contentLength === 0 ? BODY_NONE : BODY_LENGTH
  }
}

function neverHasBody(status: number): boolean {
  return status === 204 || status === 304
}
