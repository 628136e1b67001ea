import { BODY_CHUNKED, type BodyKind, type BodySink, type BodySource } from '../stream.ts'
import { asBuffer } from './as-buffer.ts'

/** A body from an async iterable. */
export class PumpedBody implements BodySource {
  readonly kind: BodyKind = BODY_CHUNKED
  readonly length = -1
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #failed: (error: unknown) => void
  #sink: BodySink | undefined
  /** The next piece waits until the sink has drained. */
  #isHeld = false
  #isOver = false

  /** @param failed called with an error of the iterable */
  constructor(pieces: AsyncIterable<Uint8Array>, failed: (error: unknown) => void) {
    this.#pieces = pieces[Symbol.asyncIterator]()
    this.#failed = failed
  }

  pipe(sink: BodySink): void {
    this.#sink = sink
    sink.source = this
    this.#read()
  }

  /** One piece at a time is read, and only when the sink takes more. */
  pause(): void {}

  resume(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#read()
  }

  /** Nobody wants the rest: sends nothing more, and returns the iterator. */
  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#pieces.return?.().catch(() => {})
  }

  #read(): void {
    this.#pieces.next().then(this.#take, this.#failed)
  }

  readonly #take = ({ done, value }: IteratorResult<Uint8Array>): void => {
    if (this.#isOver) return
    const sink = this.#sink!
    try {
      if (done === true) {
        this.#isOver = true
        return sink.end()
      }
      sink.bytes(asBuffer(value), 0, value.length)
      this.#isHeld = sink.backed
      if (!this.#isHeld && !this.#isOver) this.#read()
    } catch (error) {
      this.#failed(error)
    }
  }
}
