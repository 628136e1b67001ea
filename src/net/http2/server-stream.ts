import {
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
  type ServerStreamResponseOptions,
} from 'node:http2'
import { REJECTIONS } from '#base/rejections.ts'
import { Expectation } from '../http/expectation.ts'
import { Head } from '../http/head.ts'
import { refusalOf } from '../http/head-outcome.ts'
import { isGrpcRequest } from '../http/request-rules.ts'
import { announcedLength, isBodiless, isEventStream } from '../http/response-rules.ts'
import type { HeadLimits, ServerLimits } from '../limits.ts'
import { cutStream } from '../node-http2/reset-stream.ts'
import type { Peer } from '../peer.ts'
import {
  type Abort,
  BODY_CHUNKED,
  BODY_LENGTH,
  BODY_NONE,
  type BodyKind,
  type ResponseField,
  type ServerStream,
  type StreamHandler,
  type WireRefusal,
} from '../stream.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import { BodyReader, type ReaderOwner } from './body-reader.ts'
import { fieldObject, listBytes, objectBytes, readRequestFields, readTrailerFields, responseFields } from './heads.ts'
import { ResponseWriter, type ResponseWriterOwner } from './response-writer.ts'

const { NGHTTP2_NO_ERROR } = constants

/** The largest status that node:http2 can send. */
const MAX_STATUS = 599
/** Size of `:status` in a head. */
const STATUS_BYTES = 42
/** Has no body, even if that is not announced (RFC 9110, 15.3.6). */
const RESET_CONTENT = 205

/** The session of a stream. */
export interface StreamOwner {
  readonly peer: Peer
  readonly handler: StreamHandler
  readonly limits: ServerLimits
  readonly headLimits: HeadLimits
  readonly wheel: TimerWheel
  /** The largest head that the client accepts, in the size of RFC 9113, 6.5.2. */
  readonly maxSentHeadBytes: number
  /** Sends a PING; the connection closes if there is no reply. */
  sendKeepalive(): void
  /** The stream has closed. `gaveUp`: the client reset it before the response; `reusable`: the object can serve another request. */
  streamClosed(stream: Http2ServerStream, how: { readonly gaveUp: boolean; readonly reusable: boolean }): void
}

/** One request on an HTTP/2 connection and its response (RFC 9113, 8). Reused for a later request of the connection. */
export class Http2ServerStream implements ServerStream, ReaderOwner, ResponseWriterOwner {
  readonly peer: Peer
  readonly version = '2'
  readonly head: Head = new Head()
  readonly body: BodyReader = new BodyReader(this)
  readonly response: ResponseWriter = new ResponseWriter(this)
  context: unknown
  readonly #owner: StreamOwner
  readonly #timer: WheelTimer
  #stream!: ServerHttp2Stream
  /** The fields of the response, until they are sent. */
  #fields: string[] = []
  #responded = false
  /** The response was handed over, or there will be none. */
  #over = true
  /** The handler got the normal end, or no event at all, so it does not use this object any more. */
  #reusable = false
  /** The trailers of the request. */
  #trailers: Head | undefined
  /** Trailers follow the response body. */
  #trails = false
  readonly #expectation = new Expectation()
  /** How long the client may pause while the request is read and the response has not begun. */
  #bodyTimeoutMs = 0
  /** A gRPC call or an event stream: both sides may be silent while the client is alive. */
  #mayBeSilent = false
  /** Queued bytes, and sent and received bytes, when the write timeout was armed. */
  #unsentBytes = 0
  #sentBytes = 0
  #receivedBytes = 0
  /** How long both sides have been silent since the response began, in steps of the write timeout. */
  #silentMs = 0

  constructor(owner: StreamOwner) {
    this.peer = owner.peer
    this.#owner = owner
    this.#timer = new WheelTimer(() => this.#timeUp())
  }

  /** Serves a request. @param fields alternating names and values */
  begin(stream: ServerHttp2Stream, fields: readonly string[]): void {
    const { head } = this
    this.#stream = stream
    this.#responded = false
    this.#over = false
    this.#reusable = false
    this.#trailers = undefined
    this.#trails = false
    this.#silentMs = 0
    this.#mayBeSilent = false
    head.reset()
    stream.on('close', this.#onClose).on('error', ignore)
    const problem = readRequestFields(fields, head, this.#owner.headLimits)
    if (problem < 0) return this.#refuseHead(refusalOf(problem))
    const kind = stream.endAfterHeaders ? BODY_NONE : head.contentLength >= 0 ? BODY_LENGTH : BODY_CHUNKED
    this.#expectation.begin(head, kind)
    this.body.start(stream, kind, kind === BODY_CHUNKED ? -1 : Math.max(0, head.contentLength))
    if (kind !== BODY_NONE) this.#expectBody()
    this.#owner.handler.request(this)
  }

  #expectBody(): void {
    const { bodyTimeoutMs, silenceTimeoutMs } = this.#owner.limits
    this.#mayBeSilent = isGrpcRequest(this.head)
    this.#bodyTimeoutMs = this.#mayBeSilent ? silenceTimeoutMs : bodyTimeoutMs
    this.#stream.on('trailers', this.#onTrailers).on('end', this.#onEnd)
  }

  readonly #onTrailers = (_headers: IncomingHttpHeaders, _flags: number, fields: string[]): void => {
    const trailers = new Head()
    if (readTrailerFields(fields, trailers, this.#owner.headLimits) === 0) this.#trailers = trailers
    else if (!this.#over) this.#refuse('malformed-request')
  }

  readonly #onEnd = (): void => {
    // Node also emits 'end' for a stream that the client has reset without an error.
    if (!this.#stream.aborted) this.body.end(this.#trailers)
  }

  // Called by the handler.

  get maxHeadBytes(): number {
    return this.#owner.maxSentHeadBytes
  }

  respond(head: Head, kind: BodyKind, length: number): boolean {
    if (this.#over) return true
    if (this.#responded) throw new Error('the request has already been answered')
    const { status } = head
    // node:http2 cannot send this status.
    if (status > MAX_STATUS) {
      this.#responded = true
      this.#fail('protocol-error')
      return true
    }
    const bodiless = isBodiless(this.head.method === 'HEAD', status)
    const sent = bodiless || status === RESET_CONTENT ? BODY_NONE : kind
    const fields = responseFields(head, announcedLength(status, bodiless, sent, length))
    if (listBytes(fields) > this.maxHeadBytes) return false
    this.#responded = true
    if (!this.body.done) this.#mayBeSilent ||= isEventStream(head)
    this.#fields = fields
    this.response.start(this.#stream, sent, length)
    this.#watchWriting()
    return true
  }

  passExpectation(): boolean {
    return this.#expectation.pass()
  }

  inform(head: Head): void {
    if (this.#over || this.#responded || (head.status === 100 && !this.#expectation.answered())) return
    const fields = fieldObject(head)
    if (STATUS_BYTES + objectBytes(fields) > this.maxHeadBytes) return
    this.#inform({ ':status': head.status, ...fields })
  }

  tunnel(): void {
    throw new Error('HTTP/2 has no upgrades')
  }

  abort(): void {
    this.#fail('cancelled')
  }

  // Called by the reader and the writer.

  bodyWanted(): void {
    if (this.#over || this.#responded) return
    if (this.#expectation.bodyWanted()) this.#inform({ ':status': 100 })
    this.#arm(this.#bodyTimeoutMs)
  }

  sendHead(whole: boolean, trails: boolean): void {
    const stream = this.#stream
    this.#trails = trails
    if (stream.closed || stream.destroyed) return
    respondWith(stream, this.#fields, { endStream: whole, waitForTrailers: trails })
  }

  messageWritten(): void {
    this.#over = true
    this.#reusable = true
    this.#owner.handler.finished(this, this.response.sentBytes)
    this.#watchWriting()
    if (this.body.done) return
    this.body.abort('cancelled')
    this.#leaveRest()
  }

  messageCut(why: Abort): void {
    this.#fail(why, true)
  }

  trailersTooLarge(): void {
    this.#fail('protocol-error')
  }

  // Ending.

  /**
   * Resets the stream with NO_ERROR after a complete response, so that the client stops sending (RFC 9113, 8.1); after trailers that is
   * not needed. Received data is discarded, because Node keeps a stream until it is read.
   */
  #leaveRest(): void {
    const stream = this.#stream
    stream.resume()
    if (this.#trails) return
    // Written data must be sent first: a pending head would be lost.
    stream.once('finish', () => setImmediate(() => stream.close(NGHTTP2_NO_ERROR)))
  }

  /** Refuses a request that was not passed to the handler. */
  #refuseHead(code: WireRefusal): void {
    this.#over = true
    this.#reusable = true
    this.body.start(this.#stream, BODY_NONE, 0)
    this.#answerRefusal(code, this.#owner.handler.refused(this.peer, code, undefined))
  }

  /** Refuses a request that the handler is processing. */
  #refuse(code: WireRefusal): void {
    if (this.#responded) return this.#fail('protocol-error')
    const field = this.#owner.handler.refused(this.peer, code, this)
    this.#abandon(code === 'request-timeout-reading' ? 'timeout' : 'protocol-error')
    this.#answerRefusal(code, field)
  }

  #answerRefusal(code: WireRefusal, field: ResponseField | undefined): void {
    const stream = this.#stream
    if (stream.closed || stream.destroyed) return
    const { status, text } = REJECTIONS[code]
    const fields = [':status', String(status), 'content-type', 'text/plain', 'content-length', String(text.length)]
    if (field !== undefined) fields.push(...field)
    respondWith(stream, fields, {})
    // For HEAD, the stream has already ended.
    if (!stream.writableEnded) stream.end(text)
    this.#watchWriting()
    if (!stream.endAfterHeaders) this.#leaveRest()
  }

  /** Resets the stream: the response cannot be completed and must not look complete. */
  #fail(why: Abort, cut = false): void {
    if (this.#over) return
    this.#abandon(why, cut)
    cutStream(this.#stream)
  }

  /** Aborts the request and notifies the handler and the bodies. */
  #abandon(why: Abort, cut = false): void {
    this.#over = true
    this.response.close()
    this.#owner.handler.aborted(this, why, cut)
    this.body.abort(why)
  }

  readonly #onClose = (): void => {
    const gaveUp = !this.#over
    this.#owner.wheel.remove(this.#timer)
    if (gaveUp) this.#abandon('reset')
    this.#owner.streamClosed(this, { gaveUp, reusable: this.#reusable })
  }

  #timeUp(): void {
    if (!this.#over && !this.#responded && this.body.flowing) this.#waitOn()
    else if (this.#responded || this.#over) this.#writeOn()
  }

  /** The body timeout has passed. */
  #waitOn(): void {
    if (!this.#mayBeSilent) return this.#refuse('request-timeout-reading')
    this.#owner.sendKeepalive()
    this.#arm(this.#bodyTimeoutMs)
  }

  /**
   * The write timeout has passed. It is re-armed as long as the client reads, however slowly. Silence of both sides ends an unfinished
   * request after `silenceTimeoutMs`, unless `#mayBeSilent`.
   */
  #writeOn(): void {
    const { unsentBytes, sentBytes } = this.response
    const { writeTimeoutMs, silenceTimeoutMs } = this.#owner.limits
    const moves = unsentBytes !== this.#unsentBytes || sentBytes !== this.#sentBytes
    const waits = !moves && (unsentBytes > 0 || this.#over)
    const silent = !moves && this.body.receivedBytes === this.#receivedBytes
    this.#silentMs = silent ? this.#silentMs + writeTimeoutMs : 0
    if (!waits && this.#silentMs < silenceTimeoutMs) return this.#watchWriting()
    if (!waits && (this.#mayBeSilent || this.body.done)) {
      this.#silentMs = 0
      this.#owner.sendKeepalive()
      return this.#watchWriting()
    }
    if (this.#over) cutStream(this.#stream)
    else this.#fail('timeout')
  }

  #watchWriting(): void {
    this.#unsentBytes = this.#stream.bufferSize
    this.#sentBytes = this.response.sentBytes
    this.#receivedBytes = this.body.receivedBytes
    this.#arm(this.#owner.limits.writeTimeoutMs)
  }

  #inform(fields: Record<string, string[] | number>): void {
    const stream = this.#stream
    if (!stream.closed && !stream.destroyed) stream.additionalHeaders(fields)
  }

  #arm(ms: number): void {
    this.#owner.wheel.arm(this.#timer, ms)
  }
}

/** Responds without the `date` field that Node would add. */
function respondWith(stream: ServerHttp2Stream, fields: string[], options: ServerStreamResponseOptions): void {
  const withoutDate: ServerStreamResponseOptions & { sendDate: false } = { ...options, sendDate: false }
  stream.respond(fields, withoutDate)
}

/** For 'error': 'close' follows every error and is handled instead. */
function ignore(): void {}
