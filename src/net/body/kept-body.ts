import type { Head } from '../http/head.ts'
import type { Abort, BodyKind, BodySink, BodySource } from '../stream.ts'
import { type CollectLimits, PartialBody } from './collect-body.ts'
import { HeldBytes } from './held-bytes.ts'

/**
 * A body that is recorded while it is forwarded, up to `maxBytes` and while there is memory, so that it can be sent again: every `pipe`
 * delivers all of it.
 */
export class KeptBody implements BodySource, BodySink {
  readonly kind: BodyKind
  readonly length: number
  readonly trails: boolean
  readonly takesFramed = false
  source: BodySource | null = null
  readonly #from: BodySource
  #sink: BodySink | null = null
  #begun = false
  #kept: HeldBytes | null
  #ended = false
  #trailers: Head | undefined
  #failure: Abort | undefined

  constructor(from: BodySource, { maxBytes, claim }: CollectLimits) {
    this.kind = from.kind
    this.length = from.length
    this.trails = from.trails === true
    this.#from = from
    this.#kept = new HeldBytes(claim, maxBytes, from.length)
  }

  /** Whether all received bytes can be delivered again. */
  get isWhole(): boolean {
    return this.#kept !== null
  }

  /** Delivers the body from the start; again only while `isWhole`. */
  pipe(sink: BodySink): void {
    sink.source = this
    this.#sink = sink
    if (this.#failure !== undefined) return sink.abort(this.#failure)
    if (!this.#begun) return this.#begin()
    const { bytes, length } = this.#kept!
    if (length > 0) sink.bytes(bytes, 0, length)
    if (this.#ended) sink.end(this.#trailers)
    else if (!sink.backed) this.resume()
  }

  /** Detaches the receiver; the source is paused until the next one is attached. */
  rest(): void {
    this.#sink = null
    this.pause()
  }

  /** Stops recording. @returns the recorded and the remaining bytes as one body, if it is whole */
  detach(): BodySource {
    return new PartialBody(this.#from, this.#kept!)
  }

  pause(): void {
    this.source?.pause()
  }

  resume(): void {
    this.source?.resume()
  }

  get backed(): boolean {
    return this.#sink?.backed ?? true
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    this.#keep(buffer, start, end)
    this.#sink?.bytes(buffer, start, end)
  }

  end(trailers?: Head): void {
    this.#ended = true
    this.#trailers = trailers?.clone()
    this.#sink?.end(trailers)
  }

  abort(why: Abort): void {
    this.#failure = why
    this.#sink?.abort(why)
  }

  #begin(): void {
    this.#begun = true
    this.#from.pipe(this)
  }

  /** Between two receivers all bytes are kept, because none of them were delivered. */
  #keep(buffer: Buffer, start: number, end: number): void {
    const kept = this.#kept
    if (kept === null) return
    if (this.#sink === null) return kept.appendAnyway(buffer, start, end)
    if (kept.appendWithin(buffer, start, end)) return
    kept.drop()
    this.#kept = null
  }
}
