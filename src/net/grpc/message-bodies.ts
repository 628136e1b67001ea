import { asBuffer } from '../body/as-buffer.ts'
import type { Head } from '../http/head.ts'
import { type Abort, BODY_CHUNKED, type BodySink, type BodySource } from '../stream.ts'
import { BadFrame, FrameReader, frameMessage } from './message-frame.ts'

/** The messages that this side of a gRPC stream sends. */
export class SentMessages implements BodySource {
  readonly kind = BODY_CHUNKED
  readonly length = -1
  readonly trails: boolean
  readonly #drained: () => void
  #sink: BodySink | undefined

  /** @param trails a server ends with trailers @param drained called when the peer reads on */
  constructor(trails: boolean, drained: () => void) {
    this.trails = trails
    this.#drained = drained
  }

  /** The peer does not read as fast as messages are sent. They are taken anyway: the sender waits for answers. */
  get backed(): boolean {
    return this.#sink?.backed === true
  }

  send(message: Uint8Array): void {
    const frame = frameMessage(message)
    this.#sink?.bytes(asBuffer(frame), 0, frame.length)
  }

  /** No message follows. */
  end(trailers?: Head): void {
    const sink = this.#sink
    this.#sink = undefined
    sink?.end(trailers)
  }

  pipe(sink: BodySink): void {
    sink.source = this
    this.#sink = sink
  }

  pause(): void {}

  resume(): void {
    this.#drained()
  }
}

/** Takes what the other side of a gRPC stream sends. */
export interface MessageReceiver {
  message(bytes: Uint8Array): void
  /** What was sent is not a sequence of messages. @param fault without anything of its bytes */
  malformed(fault: string): void
  /** The other side sends no more messages. */
  ended(): void
  /** The stream or its connection has ended early. */
  aborted(why: Abort): void
}

/** The messages that the other side of a gRPC stream sends. Memory grows with the bytes that have arrived, not with announced lengths. */
export class ReceivedMessages implements BodySink {
  readonly backed = false
  readonly takesFramed = false
  source: BodySource | null = null
  readonly #receiver: MessageReceiver
  readonly #reader: FrameReader
  #isOver = false

  /** @param maxBytes of one message */
  constructor(receiver: MessageReceiver, maxBytes: number) {
    this.#receiver = receiver
    this.#reader = new FrameReader(maxBytes)
  }

  /** Nothing more is taken. */
  stop(): void {
    this.#isOver = true
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#isOver) return
    this.#reader.push(Uint8Array.prototype.slice.call(buffer, start, end))
    for (let message = this.#next(); message !== undefined; message = this.#next()) this.#receiver.message(message)
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#reader.atBoundary) this.#receiver.ended()
    else this.#receiver.malformed('the last message is incomplete')
  }

  abort(why: Abort): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#receiver.aborted(why)
  }

  #next(): Uint8Array | undefined {
    if (this.#isOver) return undefined
    try {
      return this.#reader.next()
    } catch (error) {
      if (!(error instanceof BadFrame)) throw error
      this.#isOver = true
      this.#receiver.malformed(error.message)
      return undefined
    }
  }
}
