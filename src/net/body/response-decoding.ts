import type { Head } from '../http/head.ts'
import type { Abort, BodySink } from '../stream.ts'
import { asBuffer } from './as-buffer.ts'
import { decodeReceived, type StreamDecoder, streamDecoder } from './decode-content.ts'
import { HoldingSink } from './holding-sink.ts'

/** Reads compressed responses. `coding` is the value of `Content-Encoding`. */
export interface ResponseDecoding {
  /**
   * Decodes the received part of a body.
   * @returns undefined if that is impossible, or the contents are longer than `maxBytes`
   */
  readonly received: (coding: string, bytes: Uint8Array, maxBytes: number) => Uint8Array | undefined
  /** Decodes a body as it arrives. @returns undefined if the coding is unknown */
  readonly into: (coding: string) => WrapDecoding | undefined
}

export const RESPONSE_DECODING: ResponseDecoding = { received: decodeReceived, into: decodingInto }

export interface DecodingEvents {
  /** The body cannot be decoded; its sink is aborted next. */
  readonly damaged: () => void
  /** The rest of the body is not needed. */
  readonly cancel: () => void
  /** Registers a function that is called when the request is over. */
  readonly whenOver: (stop: () => void) => void
}

/** Wraps the sink of a compressed body. */
export type WrapDecoding = (sink: BodySink, events: DecodingEvents) => BodySink

function decodingInto(coding: string): WrapDecoding | undefined {
  const create = streamDecoder(coding)
  return create === undefined ? undefined : (sink, events) => new DecodingSink(sink, create, events)
}

/**
 * Decodes a body as it arrives. A damaged body ends for the sink as a broken one. The decoder holds little: the source waits while it has
 * input that it could not pass on.
 */
class DecodingSink extends HoldingSink {
  readonly #create: (first: Uint8Array) => StreamDecoder
  readonly #events: DecodingEvents
  #decoder: StreamDecoder | undefined
  /** The decoder has enough input. */
  #isFull = false
  #isOver = false

  constructor(sink: BodySink, create: (first: Uint8Array) => StreamDecoder, events: DecodingEvents) {
    super(sink)
    this.#create = create
    this.#events = events
  }

  override get backed(): boolean {
    return this.#isFull || this.sink.backed
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#isOver || start === end) return
    const piece = Buffer.from(buffer.subarray(start, end))
    this.#decoder ??= this.#open(piece)
    this.#isFull = !this.#decoder.write(piece)
  }

  override end(trailers?: Head): void {
    if (this.#isOver) return
    if (this.#decoder === undefined) return super.end(trailers)
    const kept = trailers?.clone()
    this.#whenDecoded(() => super.end(kept))
    this.#decoder.end()
  }

  override abort(why: Abort): void {
    if (this.#isOver) return
    if (why === 'cancelled' || this.#decoder === undefined) {
      this.#stop()
      return super.abort(why)
    }
    // What has arrived before is passed on.
    this.#whenDecoded(() => super.abort(why))
    this.#decoder.end()
  }

  protected drained(): void {
    if (this.sink.backed) return
    this.#decoder?.resume()
    this.#resume()
  }

  #open(first: Uint8Array): StreamDecoder {
    const decoder = this.#create(first)
    decoder.on('data', (piece: Uint8Array) => {
      if (this.#isOver) return
      this.sink.bytes(asBuffer(piece), 0, piece.length)
      if (this.sink.backed) decoder.pause()
    })
    decoder.on('drain', () => {
      this.#isFull = false
      this.#resume()
    })
    decoder.on('error', () => {
      if (this.#isOver) return
      this.#stop()
      this.#events.damaged()
      super.abort('protocol-error')
      this.#events.cancel()
    })
    this.#events.whenOver(() => this.#stop())
    return decoder
  }

  /** The contents may end before the body: what follows them is ignored. */
  #whenDecoded(finish: () => void): void {
    const done = () => {
      if (this.#isOver) return
      this.#stop()
      finish()
    }
    if (this.#decoder!.readableEnded) done()
    else this.#decoder!.on('end', done)
  }

  #resume(): void {
    if (!this.#isOver && !this.backed) this.source?.resume()
  }

  #stop(): void {
    this.#isOver = true
    this.#decoder?.destroy()
  }
}
