import type { Head } from '../http/head.ts'
import type { Abort, BodySink } from '../stream.ts'
import { WheelTimer, workerWheel } from '../timer-wheel.ts'
import { asBuffer } from './as-buffer.ts'
import { ForwardingSink } from './forwarding-sink.ts'

/** Silence after which a stream sends a comment. Proxies and clients close connections that are silent for longer, mostly after 30 to 60 s. */
export const SILENCE_MS = 15_000

/** A block without an event (WHATWG HTML, 9.2.6). */
export const COMMENT: Uint8Array = new TextEncoder().encode(': \n\n')

const LF = 10
const CR = 13

/** Forwards an event stream, and sends a comment after each 15 s of silence between two events, unless the client is behind with reading. */
export class KeepAliveSink extends ForwardingSink {
  readonly #wheel: Pick<typeof workerWheel, 'arm' | 'remove'>
  readonly #timer = new WheelTimer(() => this.#comment())
  #isBetweenEvents = true
  /** The last byte of what came before. */
  #last = LF

  constructor(sink: BodySink, wheel: Pick<typeof workerWheel, 'arm' | 'remove'> = workerWheel) {
    super(sink)
    this.#wheel = wheel
    wheel.arm(this.#timer, SILENCE_MS)
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (end > start) this.#read(buffer, start, end)
    this.#wheel.arm(this.#timer, SILENCE_MS)
    this.sink.bytes(buffer, start, end)
  }

  override end(trailers?: Head): void {
    this.stop()
    this.sink.end(trailers)
  }

  override abort(why: Abort): void {
    this.stop()
    this.sink.abort(why)
  }

  /** Sends no more comments. Required when the receiver is gone. */
  stop(): void {
    this.#wheel.remove(this.#timer)
  }

  /** A block ends with an empty line, which may be split over pieces. */
  #read(buffer: Buffer, start: number, end: number): void {
    const before = this.#last
    const last = buffer[end - 1]!
    this.#last = last
    const byteBefore = (at: number) => (at > start ? buffer[at - 1]! : before)
    const isCrLf = last === LF && byteBefore(end - 1) === CR
    // It completes the line end of the piece before.
    if (isCrLf && end - start === 1) return
    this.#isBetweenEvents = isLineEnd(last) && isLineEnd(byteBefore(isCrLf ? end - 2 : end - 1))
  }

  #comment(): void {
    this.#wheel.arm(this.#timer, SILENCE_MS)
    if (this.#isBetweenEvents && !this.sink.backed) this.sink.bytes(asBuffer(COMMENT), 0, COMMENT.length)
  }
}

function isLineEnd(byte: number): boolean {
  return byte === LF || byte === CR
}
