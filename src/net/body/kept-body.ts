import type { Head } from '../http/head.ts'
import type { Abort, BodyKind, BodySink, BodySource } from '../stream.ts'
import { type CollectLimits, PartialBody } from './collect-body.ts'
import { HeldBytes } from './held-bytes.ts'

/**
 * A body that is kept as it passes, as long as it is not larger than `maxBytes` and there is memory for it, so that it can be sent
 * again: `pipe` gives all of it to one receiver after another.
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

  /** All received bytes can be delivered again. */
  get isWhole(): boolean {
    return this.#kept !== null
  }

  /** Begins, or begins again while it is whole. */
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

  /** Keeps nothing more: what was kept and what has still to come is given as one body, while all of it is there. */
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
