import { CallError, type CallFailure, type CallResponse, type PipedBody } from '#exchange/call.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import { type Abort, BODY_CHUNKED, type BodySink, type BodySource, type ClientStream } from '#net/stream.ts'

/** Hears once of the end of a response. */
export interface AnswerOwner {
  /** @param failure set if the response is incomplete */
  answerEnded(status: number, failure: CallFailure | undefined): void
}

/** Unread bytes above which reading from the upstream connection pauses. */
const MAX_QUEUED_BYTES = 262_144

/**
 * The response to a call. Its body is read piece by piece; the upstream connection pauses if the reader is slow. All bytes received since the
 * last read form one piece, so that a response of many tiny chunks needs no object per chunk.
 */
export class CallAnswer implements CallResponse, PipedBody, BodySink, AsyncIterableIterator<Uint8Array> {
  readonly status: number
  readonly endpoint: string
  readonly takesFramed = false
  readonly kind = BODY_CHUNKED
  readonly length = -1
  source: BodySource | null = null
  readonly #stream: ClientStream
  readonly #owner: AnswerOwner
  readonly #claim: BodyClaim
  /** Bytes received and not read yet; created with the first ones. */
  #held: HeldBytes | undefined
  #over = false
  #failure: Abort | undefined
  /** Gets the bytes instead of reads. */
  #sink: BodySink | undefined
  /** Takes the result of the read that waits. */
  #settle: ((result: IteratorResult<Uint8Array> | Promise<never>) => void) | undefined

  constructor(stream: ClientStream, endpoint: string, claim: BodyClaim, owner: AnswerOwner) {
    this.status = stream.head.status
    this.endpoint = endpoint
    this.#claim = claim
    this.#stream = stream
    this.#owner = owner
    stream.body.pipe(this)
  }

  get headers(): [name: string, value: string][] {
    const headers: [name: string, value: string][] = []
    this.#stream.head.each((name, value) => headers.push([name, value]))
    return headers
  }

  header(lowerName: string): string | undefined {
    return this.#stream.head.get(lowerName)
  }

  trailer(lowerName: string): string | undefined {
    return this.#stream.trailers?.get(lowerName)
  }

  get backed(): boolean {
    return this.#sink?.backed ?? this.#unread >= MAX_QUEUED_BYTES
  }

  /** Keeps the bytes even above the memory limit: the reader of the body checks the limit and gives up. */
  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#sink !== undefined) return this.#sink.bytes(buffer, start, end)
    // A read may bring more than the bound.
    this.#held ??= new HeldBytes(this.#claim, 2 * MAX_QUEUED_BYTES)
    this.#held.appendAnyway(buffer, start, end)
    this.#goOn()
  }

  end(): void {
    this.#close(undefined)
  }

  takeArrived(): Uint8Array | undefined {
    if (!this.#over || this.#failure !== undefined) return undefined
    return this.#held === undefined ? NO_BYTES : this.#take(this.#held)
  }

  pipe(sink: BodySink): void {
    const wasBacked = this.backed
    this.#sink = sink
    sink.source = this.source
    if (this.#unread > 0) sink.bytes(this.#held!.bytes, 0, this.#unread)
    this.#held?.drop()
    if (this.#over) this.#endSink(sink)
    else if (wasBacked && !sink.backed) this.source!.resume()
  }

  cancel(): void {
    this.abort('cancelled')
    this.#held?.drop()
  }

  abort(why: Abort): void {
    if (this.#over) return
    this.#failure = why
    this.#close(why)
    this.#stream.cancel()
  }

  #close(why: Abort | undefined): void {
    this.#over = true
    this.#owner.answerEnded(this.status, why)
    if (this.#sink === undefined) this.#goOn()
    else this.#endSink(this.#sink)
  }

  #endSink(sink: BodySink): void {
    if (this.#failure === undefined) sink.end()
    else sink.abort(this.#failure)
  }

  /** Ending it early gives the upstream connection up, also when nothing was read yet. */
  get body(): PipedBody {
    return this
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The result of one read must be known before the next. */
  next(): Promise<IteratorResult<Uint8Array>> {
    return new Promise((resolve) => {
      this.#settle = resolve
      this.#goOn()
    })
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.cancel()
    return Promise.resolve(DONE)
  }

  #goOn(): void {
    const settle = this.#settle
    if (settle === undefined || (this.#unread === 0 && !this.#over)) return
    this.#settle = undefined
    if (this.#unread > 0) settle({ done: false, value: this.#take(this.#held!) })
    else settle(this.#failure === undefined ? DONE : Promise.reject(new CallError(this.#failure)))
  }

  get #unread(): number {
    return this.#held?.length ?? 0
  }

  #take(held: HeldBytes): Uint8Array {
    const wasBacked = this.backed
    const piece = held.bytes
    held.drop()
    if (wasBacked) this.source!.resume()
    return piece
  }
}

const NO_BYTES = new Uint8Array(0)

const DONE = { done: true, value: undefined } as const
