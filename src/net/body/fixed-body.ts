import type { Head } from '../http/head.ts'
import { BODY_LENGTH, BODY_NONE, type BodyKind, type BodySink, type BodySource } from '../stream.ts'
import { asBuffer } from './as-buffer.ts'

/** Bytes per write; the next slice waits until the sink has room. */
const SLICE_BYTES = 65_536

/** A body in memory. Every `pipe` delivers it from the start. */
export class FixedBody implements BodySource {
  readonly kind: BodyKind
  readonly length: number
  readonly trails: boolean
  readonly #bytes: Buffer
  readonly #trailers: Head | undefined
  #sink: BodySink | null = null
  #at = 0
  #paused = false

  /** @param body text is sent as UTF-8 */
  constructor(body: Uint8Array | string, trailers?: Head) {
    this.#bytes = typeof body === 'string' ? Buffer.from(body) : asBuffer(body)
    this.length = this.#bytes.length
    this.trails = trailers !== undefined && trailers.fieldCount > 0
    this.#trailers = trailers
    // Trailers require a body, even if it is empty.
    this.kind = this.length === 0 && !this.trails ? BODY_NONE : BODY_LENGTH
  }

  pipe(sink: BodySink): void {
    sink.source = this
    this.#sink = sink
    this.#at = 0
    this.#paused = false
    this.#give()
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#give()
  }

  #give(): void {
    const sink = this.#sink
    while (sink !== null && sink === this.#sink && !this.#paused) {
      if (this.#at === this.length) {
        this.#sink = null
        return sink.end(this.#trailers)
      }
      const from = this.#at
      this.#at = Math.min(this.length, from + SLICE_BYTES)
      sink.bytes(this.#bytes, from, this.#at)
      if (sink.backed && this.#at < this.length) this.#paused = true
    }
  }
}
