import type { Http2Stream, OutgoingHttpHeaders } from 'node:http2'
import { flushLater } from '#base/turn.ts'
import type { Head } from '../http/head.ts'
import { type Abort, BODY_LENGTH, BODY_NONE, type BodyKind, type BodySink, type BodySource } from '../stream.ts'
import { latin1 } from '../transport/latin1.ts'
import { COALESCE_BYTES } from '../transport/transport.ts'
import { fieldObject, objectBytes } from './heads.ts'

/** The stream of a response. */
export interface ResponseWriterOwner {
  /** Maximum size of the trailers, in bytes. */
  readonly maxHeadBytes: number
  /** Sends the head. @param whole there is no body @param trails trailers may follow the body */
  sendHead(whole: boolean, trails: boolean): void
  /** The whole response was written to the stream. */
  messageWritten(): void
  /** The source aborted: the response must not look complete. */
  messageCut(why: Abort): void
  /** The trailers exceed `maxHeadBytes`: the response cannot be completed. */
  trailersTooLarge(): void
}

/**
 * Sends the body of a response. The head is sent with the first bytes, at the end of the body, or at the end of the turn of the event
 * loop. Reused for the next stream.
 */
export class ResponseWriter implements BodySink {
  readonly takesFramed = false
  backed = false
  /** Body bytes written to the stream. */
  sentBytes = 0
  /** A message has begun and not ended. */
  open = false
  readonly #owner: ResponseWriterOwner
  #source: BodySource | null = null
  /** Trailers may follow the body. */
  #mayTrail = false
  #stream!: Http2Stream
  #kind: BodyKind = BODY_NONE
  #left = 0
  #headPending = false
  #trailers: OutgoingHttpHeaders = {}

  constructor(owner: ResponseWriterOwner) {
    this.#owner = owner
  }

  /** Begins a message. */
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
    // Without a body, `end` follows at once.
    if (kind !== BODY_NONE) flushLater(this)
  }

  get source(): BodySource | null {
    return this.#source
  }

  /** A source detaches before it calls `end`, when the head may still be unsent, so its `trails` flag is remembered. */
  set source(source: BodySource | null) {
    this.#source = source
    if (source !== null) this.#mayTrail = source.trails === true
  }

  /** Bytes that the peer has not accepted yet. */
  get unsentBytes(): number {
    return this.#stream.bufferSize
  }

  /** Sends the head without body bytes. */
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
    // Without its trailers the response would look complete.
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

  /** The limit comes from the client, so this is not a fault of the source. */
  #refuseTrailers(): void {
    this.close()
    this.#owner.trailersTooLarge()
  }

  /** Accepts no more bytes and detaches the source. */
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
