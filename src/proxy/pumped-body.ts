import { asBuffer } from '#net/body/as-buffer.ts'
import { BODY_CHUNKED, type BodyKind, type BodySink, type BodySource, type SendableBody } from '#net/stream.ts'

/** Waits until the sink has drained. */
class Gate implements BodySource {
  readonly kind: BodyKind = BODY_CHUNKED
  readonly length = -1
  #open: (() => void) | undefined

  pipe(sink: BodySink): void {
    sink.source = this
  }

  pause(): void {}

  resume(): void {
    this.#open?.()
    this.#open = undefined
  }

  untilOpen(): Promise<void> {
    return new Promise((resolve) => {
      this.#open = resolve
    })
  }
}

/** A body from an async iterable. It stops, and returns the iterator, when `isWanted` becomes false. */
export class PumpedBody implements SendableBody {
  readonly kind: BodyKind = BODY_CHUNKED
  readonly length = -1
  readonly #pieces: AsyncIterable<Uint8Array>
  readonly #isWanted: () => boolean
  readonly #failed: (error: unknown) => void

  /** @param failed called with an error of the iterable */
  constructor(pieces: AsyncIterable<Uint8Array>, isWanted: () => boolean, failed: (error: unknown) => void) {
    this.#pieces = pieces
    this.#isWanted = isWanted
    this.#failed = failed
  }

  pipe(sink: BodySink): void {
    this.#pump(sink).catch(this.#failed)
  }

  async #pump(sink: BodySink): Promise<void> {
    const gate = new Gate()
    gate.pipe(sink)
    for await (const piece of this.#pieces) {
      if (!this.#isWanted()) return
      sink.bytes(asBuffer(piece), 0, piece.length)
      if (sink.backed) await gate.untilOpen()
    }
    if (this.#isWanted()) sink.end()
  }
}
