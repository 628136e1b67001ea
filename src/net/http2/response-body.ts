import type { ClientHttp2Stream } from 'node:http2'
import type { Head } from '../http/head.ts'
import { type Abort, BODY_NONE, type BodyKind, type BodySink, type BodySource } from '../stream.ts'

/** The body of a response, as its stream reads it. Nothing is read before `pipe`, save where nothing is to come. */
export class ResponseBody implements BodySource {
  kind: BodyKind = BODY_NONE
  length = -1
  readonly trails = true
  #stream: ClientHttp2Stream | null = null
  #sink: BodySink | null = null
  #trailers: Head | undefined
  #ended = false
  #failure: Abort | null = null

  start(stream: ClientHttp2Stream, kind: BodyKind, length: number): void {
    this.kind = kind
    this.length = length
    this.#stream = stream
    // The end of a stream is told only to those who read.
    if (kind === BODY_NONE) stream.resume()
  }

  pipe(sink: BodySink): void {
    sink.source = this
    this.#sink = sink
    if (this.#failure !== null) return this.abort(this.#failure)
    if (this.#ended || this.kind === BODY_NONE) return this.end(this.#trailers)
    const stream = this.#stream!
    if (stream.listenerCount('data') === 0) stream.on('data', (bytes: Buffer) => this.#take(bytes))
    else stream.resume()
  }

  pause(): void {
    this.#stream?.pause()
  }

  resume(): void {
    this.#stream?.resume()
  }

  /** Tells the sink, or the one that comes later, that it has got everything. */
  end(trailers: Head | undefined): void {
    this.#ended = true
    this.#trailers = trailers
    this.#letGo()?.end(trailers)
  }

  /** Tells the sink, or the one that comes later, that the body is cut short. */
  abort(why: Abort): void {
    this.#failure = why
    this.#letGo()?.abort(why)
  }

  #take(bytes: Buffer): void {
    const sink = this.#sink
    if (sink === null) return
    sink.bytes(bytes, 0, bytes.length)
    if (sink.backed) this.pause()
  }

  #letGo(): BodySink | null {
    const sink = this.#sink
    this.#sink = null
    if (sink !== null && sink.source === this) sink.source = null
    return sink
  }
}
