import { LATE_WAITING, type Waiting, type WaitingLine } from '../connect/waiting-line.ts'
import type { Destination } from '../destination.ts'
import type { Failure, ReplayCause } from '../failure.ts'
import type { Head } from '../http/head.ts'
import type { Http1Pool } from '../http1/client-pool.ts'
import type { Http2Pool } from '../http2/client-pool.ts'
import {
  type Abort,
  BODY_NONE,
  type BodySink,
  type BodySource,
  type ClientHandler,
  type ClientStream,
  type Framing,
} from '../stream.ts'
import { type TimerWheel, WheelTimer } from '../timer-wheel.ts'
import { HoldBuffer } from '../transport/hold-buffer.ts'

export interface NegotiatedRequest {
  readonly head: Head
  readonly framing: Framing
  readonly handler: ClientHandler
  readonly context: unknown
  /** 0: no limit. */
  readonly responseTimeoutMs: number
  readonly wheel: TimerWheel
  /** The queue in which it may wait. */
  readonly line: WaitingLine<NegotiatedStream>
  /** Whether a connection is being opened for the queue. */
  readonly isDialling: () => boolean
}

/** A request whose protocol is being negotiated: buffers its body, then forwards everything to a stream of a pool. */
export class NegotiatedStream implements ClientStream, ClientHandler, Waiting {
  context: unknown
  readonly request: HeldBody = new HeldBody((why) => this.#cut(why))
  /** Time limit until the response head. With `Framing.patient`, the stream takes it over once there is one. */
  readonly #timer: WheelTimer = new WheelTimer(() => this.#expire())
  readonly #request: NegotiatedRequest
  #stream: ClientStream | undefined
  #over = false

  constructor(request: NegotiatedRequest) {
    this.#request = request
    this.context = request.context
    if (request.responseTimeoutMs > 0) request.wheel.arm(this.#timer, request.responseTimeoutMs)
  }

  get head(): Head {
    return this.#standing.head
  }

  get body(): BodySource {
    return this.#standing.body
  }

  get trailers(): Head | undefined {
    return this.#stream?.trailers
  }

  get awaitsRoom(): boolean {
    return this.#stream?.awaitsRoom ?? !this.#request.isDialling()
  }

  sendTo(pool: Http1Pool | Http2Pool, destination: Destination): void {
    if (this.#over) return
    const { head, framing, wheel, responseTimeoutMs } = this.#request
    const patient = framing.patient === true
    if (patient) wheel.remove(this.#timer)
    this.#stream = pool.send(destination, head, framing, patient ? responseTimeoutMs : 0, this, undefined)
    if (framing.kind !== BODY_NONE) this.request.moveTo(this.#stream.request)
  }

  /** No connection could be opened. */
  failUnsent({ code, detail }: Omit<Failure, 'maybeProcessed'>): void {
    if (!this.#leave()) return
    this.#request.handler.failed(this, { code, detail, maybeProcessed: false })
  }

  cancel(): void {
    this.#leave()
    this.#stream?.cancel()
  }

  release(): boolean {
    return this.#stream?.release() === true
  }

  // Called by the stream.

  response(): void {
    this.#leave()
    this.#request.handler.response(this)
  }

  informed(_: ClientStream, head: Head): void {
    this.#request.handler.informed(this, head)
  }

  trailed(_: ClientStream, trailers: Head): void {
    this.#request.handler.trailed?.(this, trailers)
  }

  upgraded(): void {
    this.#leave()
    this.#request.handler.upgraded(this)
  }

  resends(): boolean {
    return this.#request.handler.resends?.(this) !== false
  }

  replayed(_: ClientStream, cause: ReplayCause): void {
    this.#request.handler.replayed(this, cause)
  }

  failed(_: ClientStream, failure: Failure): void {
    if (this.#leave()) this.#request.handler.failed(this, failure)
  }

  #expire(): void {
    if (this.awaitsRoom) return this.#expireWaiting()
    const stream = this.#stream
    stream?.cancel()
    this.failed(this, { code: 'timeout', detail: undefined, maybeProcessed: stream !== undefined })
  }

  #expireWaiting(): void {
    this.#stream?.cancel()
    this.failUnsent(LATE_WAITING)
  }

  #cut(why: Abort): void {
    if (why === 'cancelled') this.cancel()
    else this.failUnsent({ code: 'request-incomplete', detail: why })
  }

  /** Stops waiting. @returns false if it had already stopped */
  #leave(): boolean {
    const first = !this.#over
    this.#over = true
    this.#request.line.delete(this)
    this.#request.wheel.remove(this.#timer)
    return first
  }

  get #standing(): ClientStream {
    if (this.#stream === undefined) throw new Error('no response has come')
    return this.#stream
  }
}

/** Buffers a request body until there is a stream. */
class HeldBody implements BodySink {
  readonly takesFramed = false
  readonly #cut: (why: Abort) => void
  readonly #held = new HoldBuffer()
  #source: BodySource | null = null
  #sink: BodySink | undefined
  #ended = false
  #trailers: Head | undefined

  constructor(cut: (why: Abort) => void) {
    this.#cut = cut
  }

  /** Pauses the source until there is a stream. */
  get backed(): boolean {
    return this.#sink?.backed ?? true
  }

  get source(): BodySource | null {
    return this.#sink === undefined ? this.#source : this.#sink.source
  }

  set source(source: BodySource | null) {
    if (this.#sink === undefined) this.#source = source
    else this.#sink.source = source
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#sink === undefined) this.#held.append(buffer, start, end)
    else this.#sink.bytes(buffer, start, end)
  }

  end(trailers?: Head): void {
    if (this.#sink !== undefined) return this.#sink.end(trailers)
    this.#ended = true
    this.#trailers = trailers?.clone()
  }

  abort(why: Abort): void {
    if (this.#sink === undefined) this.#cut(why)
    else this.#sink.abort(why)
  }

  moveTo(sink: BodySink): void {
    this.#sink = sink
    sink.source = this.#source
    if (this.#held.length > 0) sink.bytes(this.#held.bytes, 0, this.#held.length)
    this.#held.clear()
    if (this.#ended) sink.end(this.#trailers)
    else if (!sink.backed) sink.source?.resume()
  }
}
