import { asBuffer } from '#net/body/as-buffer.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import type { Head } from '#net/http/head.ts'
import type { BodySink } from '#net/stream.ts'

/**
 * Lets a body come to its end, since what it says may count (tokens of a provider) and its connection is used again, and then gives
 * the receiver another one.
 */
export class ReplacingSink extends ForwardingSink {
  readonly #body: Uint8Array
  readonly #trailers: Head | undefined

  /** `trailers` follow the new body where the old one brings none. */
  constructor(sink: BodySink, body: Uint8Array, trailers: Head | undefined) {
    super(sink)
    this.#body = body
    this.#trailers = trailers
  }

  override get backed(): boolean {
    return false
  }

  override bytes(): void {}

  override end(trailers?: Head): void {
    if (this.#body.length > 0) this.sink.bytes(asBuffer(this.#body), 0, this.#body.length)
    this.sink.end(trailers ?? this.#trailers)
  }
}
