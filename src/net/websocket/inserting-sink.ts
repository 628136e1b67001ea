import { HoldingSink } from '../body/holding-sink.ts'
import type { Head } from '../http/head.ts'
import type { Abort, BodySink } from '../stream.ts'
import { type FrameHandler, FrameReader } from './frame-reader.ts'

/** Only the boundaries of frames matter. */
const IGNORED: FrameHandler = { begin: () => {}, payload: () => {}, end: () => undefined }

/** Passes what a server sends, and inserts frames of the gateway between its messages, one at a time. */
export class InsertingSink extends HoldingSink {
  readonly #frames = new FrameReader('server', IGNORED)
  #waiting: { readonly frame: Buffer; readonly done: (isSent: boolean) => void } | undefined
  readonly #closed: () => void
  #isClosed = false
  #isOver = false

  /** @param closed called once, when the server has closed the connection */
  constructor(sink: BodySink, closed: () => void) {
    super(sink)
    this.#closed = closed
  }

  /**
   * Inserts a frame as soon as no message is incomplete and the receiver has room. Only one may wait.
   * @param done gets false if no frame can be inserted any more, because the frames of the server cannot be read; what follows a close is
   * dropped, as if it had been sent
   */
  insert(frame: Buffer, done: (isSent: boolean) => void): void {
    this.#waiting = { frame, done }
    this.#deliver()
  }

  /** Ends the connection at once, with this frame if no message is incomplete. */
  endWith(frame: Buffer): void {
    if (this.#isOver) return
    if (this.#frames.isBetweenMessages) this.sink.bytes(frame, 0, frame.length)
    this.end()
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    let at = start
    while (at < end && this.#waiting !== undefined && !this.#isOver) {
      const from = at
      at = this.#frames.readFrame(buffer, at, end)
      this.sink.bytes(buffer, from, at)
      this.#deliver()
    }
    if (at < end && !this.#isOver) {
      this.#frames.read(buffer, at, end)
      this.sink.bytes(buffer, at, end)
    }
    if (!this.#frames.isClosed || this.#isClosed) return
    this.#isClosed = true
    this.#closed()
  }

  override end(trailers?: Head): void {
    if (this.#isOver) return
    this.#isOver = true
    this.sink.end(trailers)
    this.#deliver()
  }

  override abort(why: Abort): void {
    if (this.#isOver) return
    this.#isOver = true
    this.sink.abort(why)
    this.#deliver()
  }

  protected drained(): void {
    this.#deliver()
    if (!this.backed) this.source?.resume()
  }

  #deliver(): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    const isLate = this.#isOver || this.#frames.isClosed
    const isLost = this.#frames.problem !== undefined
    if (!isLate && !isLost) {
      if (!this.#frames.isBetweenMessages || this.backed) return
      this.sink.bytes(waiting.frame, 0, waiting.frame.length)
    }
    this.#waiting = undefined
    waiting.done(isLate || !isLost)
  }
}
