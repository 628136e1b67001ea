import type { Http2Stream, OutgoingHttpHeaders } from 'node:http2'
import { flushLater } from '#base/turn.ts'
import type { Head } from '../http/head.ts'
import { type Abort, BODY_LENGTH, BODY_NONE, type BodyKind, type BodySink, type BodySource } from '../stream.ts'
import { latin1 } from '../transport/latin1.ts'
import { COALESCE_BYTES } from '../transport/transport.ts'
import { fieldObject, objectBytes } from './heads.ts'

/** Whoever the message belongs to. */
export interface ResponseWriterOwner {
  /** Fields behind the body may come to so many bytes. */
  readonly maxHeadBytes: number
  /** Sends the head. `whole`: nothing follows; otherwise `trails`: fields may follow the body. */
  sendHead(whole: boolean, trails: boolean): void
  /** The whole response has been given to the stream. */
  messageWritten(): void
  /** The giver broke off: the response must not look complete. */
  messageCut(why: Abort): void
  /** The fields behind the body are more than `maxHeadBytes`: the response cannot be completed. */
  trailersTooLarge(): void
}

/**
 * Sends the body of a response: the head goes out with the first bytes, at the end, or at the end of the turn.
 * Used again for the next stream.
 */
export class ResponseWriter implements BodySink {
  readonly takesFramed = false
  backed = false
  /** Body bytes given to the stream. */
  sentBytes = 0
  /** A message has begun and not ended. */
  open = false
  readonly #owner: ResponseWriterOwner
  #source: BodySource | null = null
  /** Fields may follow the body. */
  #mayTrail = false
  #stream!: Http2Stream
  #kind: BodyKind = BODY_NONE
  #left = 0
  #headPending = false
  #trailers: OutgoingHttpHeaders = {}

  constructor(owner: ResponseWriterOwner) {
    this.#owner = owner
  }

  /** Begins a message; its body is as `kind` and `length` say. */
  start(stream: Http2Stream, kind: BodyKind, length: number): void {
    this.#source = null
    this.#mayTrail = false
    this.backed = false
    this.sentBytes = 0
    this.open = true
    this.#stream = stream
    this.#kind = kind
    this.#left = kind === BODY_LENGTH ? length : 0
    this.#headPending = true
    // Without a body the end follows at once.
    if (kind !== BODY_NONE) flushLater(this)
  }

  get source(): BodySource | null {
    return this.#source
  }

  /** A giver lets go before it tells of the end, and the head may still wait then: what it may bring is remembered. */
  set source(source: BodySource | null) {
    this.#source = source
    if (source !== null) this.#mayTrail = source.trails === true
  }

  /** Bytes that wait for the peer. */
  get unsentBytes(): number {
    return this.#stream.bufferSize
  }

  /** Sends a head that no body bytes have joined. */
  flush(): void {
    if (this.open && this.#headPending) this.#sendHead(false, this.#mayTrail)
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    if (!this.open || start === end || this.#kind === BODY_NONE) return
    if (this.#kind === BODY_LENGTH) {
      this.#left -= end - start
      if (this.#left < 0) return this.abort('protocol-error')
    }
    this.sentBytes += end - start
    if (this.#headPending) this.#sendHead(false, this.#mayTrail)
    const taken =
      end - start <= COALESCE_BYTES
        ? this.#stream.write(latin1(buffer, start, end), 'latin1')
        : this.#stream.write(Buffer.from(buffer.subarray(start, end)))
    if (taken || this.backed) return
    this.backed = true
    this.#stream.once('drain', this.#onDrain)
  }

  end(trailers?: Head): void {
    if (!this.open) return
    if (this.#left > 0) return this.abort('protocol-error')
    const trails = trailers !== undefined && trailers.fieldCount > 0 && this.#kind !== BODY_NONE
    const fields = trails ? fieldObject(trailers) : undefined
    // Without them the response would look whole.
    if (fields !== undefined && objectBytes(fields) > this.#owner.maxHeadBytes) return this.#refuseTrailers()
    const whole = this.#headPending && !trails
    if (this.#headPending) this.#sendHead(whole, trails)
    if (fields !== undefined) {
      this.#trailers = fields
      this.#stream.once('wantTrailers', this.#onWantTrailers)
    }
    if (!whole) this.#stream.end()
    this.close()
    this.#owner.messageWritten()
  }

  abort(why: Abort): void {
    if (!this.open) return
    this.close()
    this.#owner.messageCut(why)
  }

  /** What a client announces that it takes is not the giver's fault. */
  #refuseTrailers(): void {
    this.close()
    this.#owner.trailersTooLarge()
  }

  /** Takes nothing more for this message and lets its giver go. */
  close(): void {
    this.open = false
    this.#source = null
    this.#headPending = false
  }

  #sendHead(whole: boolean, trails: boolean): void {
    this.#headPending = false
    this.#owner.sendHead(whole, trails)
  }

  readonly #onDrain = (): void => {
    this.backed = false
    this.#source?.resume()
  }

  readonly #onWantTrailers = (): void => {
    this.#stream.sendTrailers(this.#trailers)
  }
}
