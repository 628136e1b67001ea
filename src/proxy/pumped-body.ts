import { asBuffer } from '#net/body/as-buffer.ts'
import { BODY_CHUNKED, type BodyKind, type BodySink, type BodySource } from '#net/stream.ts'

/** A body from an async iterable. */
export class PumpedBody implements BodySource {
  readonly kind: BodyKind = BODY_CHUNKED
  readonly length = -1
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #failed: (error: unknown) => void
  #sink: BodySink | undefined
  /** The next piece waits until the sink has drained. */
  #isHeld = false
  #isStopped = false

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
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#pieces.return?.().catch(() => {})
  }

  #read(): void {
    this.#pieces.next().then(this.#take, this.#failed)
  }

  readonly #take = ({ done, value }: IteratorResult<Uint8Array>): void => {
    if (this.#isStopped) return
    const sink = this.#sink!
    try {
      if (done === true) {
        this.#isStopped = true
        return sink.end()
      }
      sink.bytes(asBuffer(value), 0, value.length)
      this.#isHeld = sink.backed
      if (!this.#isHeld && !this.#isStopped) this.#read()
    } catch (error) {
      this.#failed(error)
    }
  }
}
