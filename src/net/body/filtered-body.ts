import type { Head } from '../http/head.ts'
import { type Abort, BODY_CHUNKED, BODY_LENGTH, type BodyKind, type BodySink, type BodySource } from '../stream.ts'
import { ForwardingSink } from './forwarding-sink.ts'

/** Stands between a body and its receiver. */
export interface BodyFilter {
  /** Bytes may be added or removed: the announced length does not hold. */
  readonly changesLength: boolean
  /** The sink for the body; what it lets through goes on to `sink`. Called once. */
  into(sink: BodySink): BodySink
}

/** A body as a filter gives it on. `pipe` may be called again for what has not been given yet, as with bodies of the wire. */
export class FilteredBody implements BodySource {
  readonly kind: BodyKind
  readonly length: number
  readonly trails: boolean
  readonly #body: BodySource
  readonly #filter: BodyFilter
  #receiver: Receiver | undefined

  constructor(body: BodySource, filter: BodyFilter) {
    const { changesLength } = filter
    this.kind = changesLength && body.kind === BODY_LENGTH ? BODY_CHUNKED : body.kind
    this.length = changesLength ? -1 : body.length
    this.trails = body.trails === true
    this.#body = body
    this.#filter = filter
  }

  pipe(sink: BodySink): void {
    if (this.#receiver === undefined) {
      this.#receiver = new Receiver(sink)
      this.#body.pipe(this.#filter.into(this.#receiver))
    } else if (this.#receiver.replace(sink) && !sink.backed) {
      this.#body.resume()
    }
  }

  pause(): void {
    this.#body.pause()
  }

  resume(): void {
    this.#body.resume()
  }
}

/** The receiver behind a filter, which keeps its state when another one takes over. */
class Receiver extends ForwardingSink {
  #ended = false
  #trailers: Head | undefined
  #failure: Abort | undefined

  /** @returns false when the body is over, which the new sink is told as well: the one before may not have wanted to know */
  replace(sink: BodySink): boolean {
    sink.source = this.sink.source
    this.sink = sink
    if (this.#failure !== undefined) sink.abort(this.#failure)
    else if (this.#ended) sink.end(this.#trailers)
    return this.#failure === undefined && !this.#ended
  }

  override end(trailers?: Head): void {
    this.#ended = true
    this.#trailers = trailers?.clone()
    super.end(trailers)
  }

  override abort(why: Abort): void {
    this.#failure = why
    super.abort(why)
  }
}
