import type { Head } from '../http/head.ts'
import {
  type Abort,
  BODY_CHUNKED,
  BODY_LENGTH,
  BODY_NONE,
  type BodyKind,
  type BodySink,
  type BodySource,
} from '../stream.ts'
import { ForwardingSink } from './forwarding-sink.ts'

/** Changes a body on its way to the receiver. */
export interface BodyFilter {
  /** The filter may add or remove bytes, so the announced length does not apply. */
  readonly changesLength: boolean
  /** The sink for the body; its output goes to `sink`. Called once. */
  into(sink: BodySink): BodySink
}

/** The output of a filter. A second `pipe` delivers the rest, like bodies from a connection. */
export class FilteredBody implements BodySource {
  readonly kind: BodyKind
  readonly length: number
  readonly trails: boolean
  readonly #body: BodySource
  readonly #filter: BodyFilter
  #receiver: Receiver | undefined

  constructor(body: BodySource, filter: BodyFilter) {
    const { changesLength } = filter
    // An empty body may become one.
    const hasLength = body.kind === BODY_LENGTH || body.kind === BODY_NONE
    this.kind = changesLength && hasLength ? BODY_CHUNKED : body.kind
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
      this.resume()
    }
  }

  pause(): void {
    this.#body.pause()
  }

  /** A filter that holds bytes goes on with them, and then resumes the body. */
  resume(): void {
    const source = this.#receiver?.source ?? this.#body
    source.resume()
  }
}

/** The receiver behind a filter; it keeps its state when the sink is replaced. */
class Receiver extends ForwardingSink {
  #ended = false
  #trailers: Head | undefined
  #failure: Abort | undefined

  /** @returns false if the body is over; the new sink gets the end too, because the old one may have ignored it */
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
