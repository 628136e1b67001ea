import type { Head } from '../http/head.ts'
import type { Abort, BodyKind, BodySink, BodySource } from '../stream.ts'

/**
 * A body that is kept as it passes, as long as it is not larger than `maxBytes`, so that it can be sent again: `pipe` gives all of
 * it to one receiver after another.
 */
export class KeptBody implements BodySource, BodySink {
  readonly kind: BodyKind
  readonly length: number
  readonly trails: boolean
  readonly takesFramed = false
  source: BodySource | null = null
  readonly #from: BodySource
  readonly #maxBytes: number
  #sink: BodySink | null = null
  #begun = false
  #pieces: Buffer[] | null = []
  #keptBytes = 0
  #ended = false
  #trailers: Head | undefined
  #failure: Abort | undefined

  constructor(from: BodySource, maxBytes: number) {
    this.kind = from.kind
    this.length = from.length
    this.trails = from.trails === true
    this.#from = from
    this.#maxBytes = maxBytes
  }

  /** All that has come can be given once more. */
  get isWhole(): boolean {
    return this.#pieces !== null
  }

  /** Begins, or begins again while it is whole. */
  pipe(sink: BodySink): void {
    sink.source = this
    this.#sink = sink
    if (this.#failure !== undefined) return sink.abort(this.#failure)
    if (!this.#begun) return this.#begin()
    for (const piece of this.#pieces ?? []) sink.bytes(piece, 0, piece.length)
    if (this.#ended) sink.end(this.#trailers)
    else if (!sink.backed) this.resume()
  }

  /** The receiver is given up; until the next one comes, whoever gives is asked to wait. */
  rest(): void {
    this.#sink = null
    this.pause()
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

  /** Between two receivers everything is kept: it has been given to nobody. */
  #keep(buffer: Buffer, start: number, end: number): void {
    this.#keptBytes += end - start
    if (this.#sink !== null && this.#keptBytes > this.#maxBytes) this.#pieces = null
    else this.#pieces?.push(Buffer.from(buffer.subarray(start, end)))
  }
}
