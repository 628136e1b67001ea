import { Expectation } from '../http/expectation.ts'
import { Head } from '../http/head.ts'
import { INCOMPLETE, refusalOf } from '../http/head-outcome.ts'
import { announcedLength, isBodiless, isEventStream, sentKind } from '../http/response-rules.ts'
import type { ServerLimits } from '../limits.ts'
import type { Peer } from '../peer.ts'
import { DRAIN_GRACE_MS, type ServedConnection } from '../served-connection.ts'
import {
  type Abort,
  BODY_CHUNKED,
  BODY_CLOSE,
  BODY_LENGTH,
  BODY_NONE,
  type BodyKind,
  type ServerStream,
  type StreamHandler,
  type TunnelEnd,
  type WireRefusal,
} from '../stream.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import type { ConnectedSocket } from '../transport/connected-socket.ts'
import { HoldBuffer } from '../transport/hold-buffer.ts'
import type { Transport, TransportOwner } from '../transport/transport.ts'
import { BodyReader, type ReaderOwner } from './body-reader.ts'
import { BodyWriter, type WriterOwner } from './body-writer.ts'
import { connectionLines } from './connection-lines.ts'
import { readRequestHead } from './read-head.ts'
import { refusalText } from './refusal-text.ts'

/** Between requests, or in the middle of a head. */
const READING_HEAD = 0
/** A request is being read, its response is being sent, or both. */
const SERVING = 1
/** The last response was sent; further bytes are discarded until the client closes. */
const LINGERING = 2
const CLOSED = 3
type Phase = typeof READING_HEAD | typeof SERVING | typeof LINGERING | typeof CLOSED

/** Reading goes on until so many bytes are held that nobody wants yet. */
const MAX_HELD_BYTES = 16_384

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
/** First line of the HTTP/2 connection preface; an HTTP/1 parser reads it as a request with an unsupported version. */
const HTTP2_LINE = 'PRI * HTTP/2.0\r\n'
/** A TLS handshake record, and its major version. */
const TLS_HANDSHAKE = 22
const TLS_MAJOR = 3
const CR = 13
const LF = 10

/** Settings from the listener. */
export interface ServerSettings {
  readonly handler: StreamHandler
  readonly limits: ServerLimits
  readonly wheel: TimerWheel
  /** The connection has closed; called once. */
  readonly onClosed: (connection: ServedConnection) => void
  /** Takes over the socket of a client that begins with the HTTP/2 preface; `onClosed` is then not called. Undefined: it is refused. */
  readonly onHttp2?: ((socket: ConnectedSocket, connection: ServerConnection) => void) | undefined
}

/**
 * An accepted HTTP/1 connection: reads requests in sequence and writes their responses in order (RFC 9112). It is also the stream of its
 * current request; all its objects are reused for the next one.
 */
export class ServerConnection implements ServerStream, ServedConnection, TransportOwner, ReaderOwner, WriterOwner {
  readonly peer: Peer
  readonly head: Head = new Head()
  readonly body: BodyReader = new BodyReader(this)
  readonly response: BodyWriter = new BodyWriter(this, { keepsWhole: false })
  context: unknown
  readonly #settings: ServerSettings
  readonly #timer: WheelTimer
  /** Undefined: the age of the connection is not limited. */
  #age: WheelTimer | undefined
  readonly #held = new HoldBuffer()
  /** The client has ended its direction after the held bytes. */
  #endHeld = false
  #transport!: Transport
  #phase: Phase = READING_HEAD
  /** A caller up the stack is processing bytes and continues with the rest. */
  #running = false
  #forHead = false
  #responded = false
  #answered = false
  readonly #expectation = new Expectation()
  #closeAfter = false
  /** The client ended its direction: it still reads the response, or it has closed, which only a write can detect. */
  #clientEnded = false
  /** A client that has ended its direction does not wait for the response. */
  #endsWithClient = false
  #draining = false
  #discarded = 0
  #emptyLineSeen = false
  /** A request has begun on this connection. */
  #requested = false
  /** The head timeout is running. */
  #headTimed = false
  #sentKind: BodyKind = BODY_NONE
  /** The response is an event stream: the rest of the request body has no time limit. */
  #sendsEvents = false
  /** Queued bytes, and sent bytes, when the write timeout was armed. */
  #unsentBytes = 0
  #sentBytes = 0

  constructor(peer: Peer, settings: ServerSettings) {
    this.peer = peer
    this.#settings = settings
    this.#timer = new WheelTimer(() => this.#timeUp())
  }

  /** Begins to serve; must be called first. */
  attach(transport: Transport): void {
    this.#transport = transport
    const { idleTimeoutMs, maxConnectionMs } = this.#settings.limits
    this.#arm(idleTimeoutMs)
    if (maxConnectionMs === 0) return
    this.#age = new WheelTimer(() => this.drain())
    this.#settings.wheel.arm(this.#age, maxConnectionMs)
  }

  get version(): '1.0' | '1.1' {
    return this.head.http10 ? '1.0' : '1.1'
  }

  discourageReuse(): void {
    this.#draining = true
  }

  /** Closes after the current request. If there is none, a request may be on its way: closes after it, or after a grace. */
  drain(): void {
    this.#draining = true
    if (this.#phase === READING_HEAD && this.#held.length === 0) this.#arm(DRAIN_GRACE_MS)
  }

  // Called by the handler.

  /** Always true: HTTP/1 clients do not announce a size limit for heads. */
  respond(head: Head, kind: BodyKind, length: number): true {
    if (this.#phase !== SERVING || this.#answered) return true
    if (this.#responded) throw new Error('the request has already been answered')
    this.#responded = true
    const { status } = head
    const bodiless = isBodiless(this.#forHead, status)
    const sent = sentKind(kind, bodiless, this.head.http10)
    this.#sentKind = sent
    this.#sendsEvents = !this.body.done && isEventStream(head)
    this.#closeAfter ||= this.#draining || this.#mustClose() || sent === BODY_CLOSE
    const lines = connectionLines(head, this.head.http10, this.#closeAfter)
    const text = head.writeResponse(sent, announcedLength(status, bodiless, kind, length), lines)
    this.response.start(this.#transport, text, sent, length)
    this.#watchWriting()
    return true
  }

  passExpectation(): boolean {
    return this.#expectation.pass()
  }

  inform(head: Head): void {
    if (this.#phase !== SERVING || this.#responded || this.head.http10) return
    if (head.status === 100 && !this.#expectation.answered()) return
    this.#transport.writeText(head.writeResponse(BODY_NONE, -1, ''))
  }

  tunnel(head: Head, upstream: TunnelEnd): void {
    if (this.#phase !== SERVING) return upstream.cancel()
    if (this.head.upgrade === '' || this.#responded) throw new Error('the client did not request an upgrade')
    this.#responded = true
    this.#closeAfter = true
    this.#sentKind = BODY_CLOSE
    const lines = `connection: upgrade\r\nupgrade: ${head.upgrade}\r\n`
    this.response.start(this.#transport, head.writeResponse(BODY_NONE, -1, lines), BODY_CLOSE, -1)
    this.body.start(BODY_CLOSE, -1)
    upstream.body.pipe(this.response)
    this.body.pipe(upstream.request)
  }

  endWithClient(): void {
    this.#endsWithClient = true
    if (this.#clientEnded && this.#phase === SERVING) this.#fail('reset')
    else if (this.#endHeld) this.ended()
  }

  abort(): void {
    this.#fail('cancelled')
  }

  // Called by the transport.

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#held.length === 0) return this.#run(buffer, start, end)
    this.#held.append(buffer, start, end)
    if (!this.#running) this.#run(this.#held.bytes, 0, this.#held.length)
  }

  ended(): void {
    if (this.#phase === READING_HEAD) return this.#linger()
    if (this.#phase !== SERVING) return
    if (this.body.done && this.#endsWithClient) return this.#fail('reset')
    // Held bytes may be the rest of the body, or another request.
    this.#endHeld = this.#held.length > 0
    if (this.#endHeld) return
    if (this.body.done) {
      // A client may end its direction after its last request; the response is still sent, within a time limit.
      this.#closeAfter = true
      this.#clientEnded = true
      this.#watchWriting()
    } else if (this.body.close()) this.body.end()
    else this.#fail('reset')
  }

  drained(): void {
    this.response.drained()
  }

  closed(): void {
    this.#fail('reset')
    this.#settings.onClosed(this)
  }

  // Called by the reader and the writer.

  bodyWanted(): void {
    if (this.#phase !== SERVING) return
    if (!this.#responded && this.#expectation.bodyWanted()) this.#transport.writeText(CONTINUE)
    if (this.body.kind !== BODY_CLOSE) this.#arm(this.#settings.limits.bodyTimeoutMs)
    this.#advance()
  }

  bodyHeld(): void {
    this.#transport.pause()
  }

  messageWritten(): void {
    this.#answered = true
    this.#settings.handler.finished(this, this.response.sentBytes)
    if (this.#phase !== SERVING) return
    if (this.body.done) return this.#endRequest()
    this.body.discard()
    if (this.#closeAfter) this.#linger()
    else this.#discardRest()
  }

  messageCut(why: Abort): void {
    this.#fail(why, true)
  }

  // Reading.

  /** Processes buffered bytes, unless a caller up the stack does, and resumes reading when none are left. */
  #advance(): void {
    if (this.#running) return
    if (this.#held.length > 0) this.#run(this.#held.bytes, 0, this.#held.length)
    else this.#transport.resume()
  }

  #run(buffer: Buffer, start: number, end: number): void {
    this.#running = true
    let at = start
    while (at < end) {
      const from = at
      at = this.#phase === READING_HEAD ? this.#readHead(buffer, at, end) : this.#readOn(buffer, at, end)
      if (at === from) break
    }
    this.#running = false
    this.#hold(buffer, at, end)
    if (this.#endHeld && (this.#held.length === 0 || this.body.done)) this.ended()
  }

  /**
   * Buffers bytes that cannot be processed now, and pauses reading when they are many, except in a head, whose rest is needed. While nothing
   * is read, a disconnect of the client is not noticed.
   */
  #hold(buffer: Buffer, start: number, end: number): void {
    if (this.#phase === CLOSED) return this.#held.clear()
    this.#held.replace(buffer, start, end)
    if (this.#phase === READING_HEAD) {
      if (start < end && !this.#headTimed) {
        this.#headTimed = true
        this.#arm(this.#settings.limits.headTimeoutMs)
      }
      this.#transport.resume()
    } else if (end - start >= MAX_HELD_BYTES) this.#transport.pause()
    else if (start < end || this.body.done || this.body.flowing) this.#transport.resume()
  }

  /** @returns the index after the head; `start` if more bytes are needed */
  #readHead(buffer: Buffer, start: number, end: number): number {
    // Some old clients send an empty line before a request (RFC 9112, 2.2).
    if (buffer[start] === CR && !this.#emptyLineSeen) {
      if (end - start === 1) return start
      this.#emptyLineSeen = buffer[start + 1] === LF
      if (this.#emptyLineSeen) return start + 2
    }
    const after = readRequestHead(buffer, start, end, this.head, this.#settings.limits)
    if (after === INCOMPLETE) return start
    if (after < 0) {
      if (this.#mayBeHttp2(buffer, start, end)) {
        if (end - start < HTTP2_LINE.length) return start
        this.#handOver(buffer, start, end)
      } else this.#refuse(this.#isTls(buffer, start, end) ? 'tls-not-expected' : refusalOf(after))
      return end
    }
    this.#beginRequest()
    return after
  }

  /** Whether the bytes may be an HTTP/2 preface. It is only valid at the start of a plain connection (RFC 9113, 3.3). */
  #mayBeHttp2(buffer: Buffer, start: number, end: number): boolean {
    if (this.#settings.onHttp2 === undefined || this.#requested || this.peer.secure) return false
    return HTTP2_LINE.startsWith(buffer.latin1Slice(start, Math.min(end, start + HTTP2_LINE.length)))
  }

  /** Whether a plain connection begins with a TLS handshake record (RFC 8446, 5.1). */
  #isTls(buffer: Buffer, start: number, end: number): boolean {
    if (this.#requested || this.peer.secure) return false
    return buffer[start] === TLS_HANDSHAKE && (start + 1 === end || buffer[start + 1] === TLS_MAJOR)
  }

  #handOver(buffer: Buffer, start: number, end: number): void {
    this.#phase = CLOSED
    const unread = Buffer.from(buffer.subarray(start, end))
    this.#forget()
    this.#settings.onHttp2!(this.#transport.detach!(unread), this)
  }

  #beginRequest(): void {
    const { head } = this
    this.#requested = true
    this.#phase = SERVING
    this.#forHead = head.method === 'HEAD'
    this.#responded = false
    this.#endsWithClient = false
    this.#answered = false
    this.#sendsEvents = false
    this.#discarded = 0
    this.#emptyLineSeen = false
    this.#headTimed = false
    this.#closeAfter = !head.keepAlive
    const kind = head.chunked ? BODY_CHUNKED : head.contentLength > 0 ? BODY_LENGTH : BODY_NONE
    this.#expectation.begin(head, kind)
    this.body.start(kind, kind === BODY_CHUNKED ? -1 : Math.max(0, head.contentLength))
    this.#settings.handler.request(this)
  }

  /** Processes bytes after a head: body bytes, or bytes to buffer or discard. @returns like `#readHead` */
  #readOn(buffer: Buffer, start: number, end: number): number {
    if (this.#phase !== SERVING) return end
    const { body } = this
    if (body.done || !body.flowing) return start
    if (body.kind !== BODY_CLOSE) this.#arm(this.#settings.limits.bodyTimeoutMs)
    const after = body.feed(buffer, start, end)
    if (this.#phase !== SERVING) return end
    if (body.bad) {
      this.#refuse('malformed-request')
      return end
    }
    if (body.done) {
      body.end()
      if (this.#answered && this.#phase === SERVING) this.#endRequest()
    } else if (this.#answered) this.#countDiscarded(after - start)
    return after
  }

  // Ending.

  /** The response ended before its request: discards a small rest to keep the connection. */
  #discardRest(): void {
    this.#arm(this.#settings.limits.lingerTimeoutMs)
    this.#advance()
  }

  #countDiscarded(bytes: number): void {
    this.#discarded += bytes
    if (this.#discarded > this.#settings.limits.maxDiscardBytes) this.#linger()
  }

  #endRequest(): void {
    if (this.#closeAfter) return this.#linger()
    this.#phase = READING_HEAD
    this.head.reset()
    // The response may have begun before the drain, so the client does not know of it.
    this.#arm(this.#draining ? DRAIN_GRACE_MS : this.#settings.limits.idleTimeoutMs)
    this.#advance()
  }

  /** Ends the sending direction and discards received bytes, because a reset could destroy the response (RFC 9112, 9.6). */
  #linger(): void {
    this.#phase = LINGERING
    this.#unsentBytes = 0
    this.#held.clear()
    this.#arm(this.#settings.limits.lingerTimeoutMs)
    this.#transport.end()
    this.#transport.resume()
  }

  #refuse(code: WireRefusal): void {
    const serving = this.#phase === SERVING && !this.#answered
    const field = this.#settings.handler.refused(this.peer, code, serving ? this : undefined)
    if (serving && this.#responded) return this.#fail('protocol-error')
    this.#phase = LINGERING
    if (serving) this.#abandon(code === 'request-timeout-reading' ? 'timeout' : 'protocol-error')
    this.#transport.writeText(refusalText(code, field))
    this.#linger()
  }

  #fail(why: Abort, cut = false): void {
    if (this.#phase === CLOSED) return
    const serving = this.#phase === SERVING && !this.#answered
    this.#phase = CLOSED
    this.#forget()
    // If the end of the connection delimits the body, a normal end would look like a complete body.
    if (serving && this.#responded && this.#sentKind === BODY_CLOSE) this.#transport.reset()
    else this.#transport.destroy()
    if (serving) this.#abandon(why, cut)
  }

  #forget(): void {
    this.#settings.wheel.remove(this.#timer)
    if (this.#age !== undefined) this.#settings.wheel.remove(this.#age)
    this.#held.clear()
  }

  /** Aborts the current request and notifies the handler and the bodies. */
  #abandon(why: Abort, cut = false): void {
    this.response.close()
    this.#settings.handler.aborted(this, why, cut)
    this.body.abort(why)
  }

  #timeUp(): void {
    if (this.#phase === SERVING) {
      if (this.#answered) this.#linger()
      else if (!this.#sendsEvents && !this.body.done && this.body.flowing && this.body.kind !== BODY_CLOSE) {
        this.#refuse('request-timeout-reading')
      } else this.#writeOn()
    } else if (this.#phase === READING_HEAD && this.#headTimed) this.#refuse('request-timeout-reading')
    else if (this.#phase === LINGERING) this.#lingerOn()
    else if (this.#draining) setImmediate(() => this.#endUnasked())
    else this.#endIdle()
  }

  /** Of a drained connection. A turn of the event loop has read what arrived while the worker was busy: it may be another request. */
  #endUnasked(): void {
    if (this.#phase === READING_HEAD && !this.#headTimed) this.#endIdle()
  }

  /** A drained connection may still be sending its last response. */
  #endIdle(): void {
    if (this.#draining && this.#transport.unsentBytes !== 0) this.#linger()
    else this.#fail('timeout')
  }

  /** Re-arms the write timeout as long as the client reads, however slowly. */
  #writeOn(): void {
    const { unsentBytes } = this.#transport
    const waits = unsentBytes === this.#unsentBytes && this.response.sentBytes === this.#sentBytes
    if (waits && unsentBytes !== 0) this.#fail('timeout')
    else if (waits && this.#clientEnded) this.#fail('reset')
    else this.#watchWriting()
  }

  #watchWriting(): void {
    const { endedTimeoutMs, writeTimeoutMs } = this.#settings.limits
    this.#unsentBytes = this.#transport.unsentBytes
    this.#sentBytes = this.response.sentBytes
    this.#arm(this.#clientEnded ? endedTimeoutMs : writeTimeoutMs)
  }

  #lingerOn(): void {
    const { unsentBytes } = this.#transport
    if (unsentBytes === 0 || unsentBytes === this.#unsentBytes) this.#fail('timeout')
    else this.#watchWriting()
  }

  #arm(ms: number): void {
    this.#settings.wheel.arm(this.#timer, ms)
  }

  // Framing of the response.

  /** Whether the rest of the request prevents reading a next request. */
  #mustClose(): boolean {
    // A client that waits for 100 may or may not send the body, so the start of its next request is ambiguous.
    const mayFollow = this.#expectation.owed && !this.body.done
    return mayFollow || this.body.left > this.#settings.limits.maxDiscardBytes
  }
}
