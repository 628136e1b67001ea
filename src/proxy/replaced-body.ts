import { asBuffer } from '#net/body/as-buffer.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import type { Head } from '#net/http/head.ts'
import type { SendableBody } from '#net/stream.ts'
import { BODY_LENGTH, BODY_NONE, type BodyKind, type BodySink } from '#net/stream.ts'

/** A body that replaces the body of the backend. */
export class ReplacedBody implements SendableBody {
  readonly kind: BodyKind
  readonly length: number
  readonly trails: boolean
  readonly #replaced: SendableBody
  readonly #body: Uint8Array
  readonly #trailers: Head | undefined

  /** @param trailers follow the new body if the replaced one has none */
  constructor(replaced: SendableBody, body: Uint8Array, trailers: Head | undefined) {
    this.trails = replaced.trails === true
    this.kind = body.length === 0 && !this.trails ? BODY_NONE : BODY_LENGTH
    this.length = body.length
    this.#replaced = replaced
    this.#body = body
    this.#trailers = trailers
  }

  pipe(sink: BodySink): void {
    this.#replaced.pipe(new ReplacingSink(sink, this.#body, this.#trailers))
  }
}

/**
 * Reads the replaced body to its end, because its content may count (tokens of a provider) and its connection is reused. Then sends the new
 * one.
 */
class ReplacingSink extends ForwardingSink {
  readonly #body: Uint8Array
  readonly #trailers: Head | undefined

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
