import { asBuffer } from '#net/body/as-buffer.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import type { Head } from '#net/http/head.ts'
import { BODY_LENGTH, BODY_NONE, type BodyKind, type BodySink } from '#net/stream.ts'
import type { Given } from './bodies.ts'

/** A body that a policy put in place of the one that comes. */
export class ReplacedBody implements Given {
  readonly kind: BodyKind
  readonly length: number
  readonly trails: boolean
  readonly #replaced: Given
  readonly #body: Uint8Array
  readonly #trailers: Head | undefined

  /** `trailers` follow the new body where the old one brings none. */
  constructor(replaced: Given, body: Uint8Array, trailers: Head | undefined) {
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
 * Lets a body come to its end, since what it says may count (tokens of a provider) and its connection is used again, and then gives
 * the receiver another one.
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
