import type { Http2Stream } from 'node:http2'
import type { Head } from '../http/head.ts'
import { type Abort, BODY_NONE, type BodyKind, type BodySink, type BodySource } from '../stream.ts'

const READER = Symbol('reader')

/** Holds its reader only until the end of the body: Node keeps a stream long after that. */
interface ReadStream extends Http2Stream {
  [READER]?: BodyReader | null
}

/** The exchange of a reader. */
export interface ReaderOwner {
  /** The body has a consumer now, or bytes were delivered to it. */
  bodyWanted(): void
}

/**
 * The body of a received message: delivers the data of its stream to its sink. While the sink is backed up, the flow-control window
 * limits what the peer can send, and the data waits here. The owner reports the end of the body.
 */
export class BodyReader implements BodySource {
  kind: BodyKind = BODY_NONE
  length = -1
  readonly trails = true
  /** The body has been received completely. */
  done = true
  /** Number of bytes delivered. */
  receivedBytes = 0
  readonly #owner: ReaderOwner
  #stream: ReadStream | null = null
  #sink: BodySink | null = null
  #trailers: Head | undefined
  #failure: Abort | null = null
  #reading = false
  #paused = false

  constructor(owner: ReaderOwner) {
    this.#owner = owner
  }

  /** Begins the body of `stream`. @param kind as in `BodySource` @param length as in `BodySource` */
  start(stream: Http2Stream, kind: BodyKind, length: number): void {
    this.kind = kind
    this.length = length
    this.done = kind === BODY_NONE
    this.receivedBytes = 0
    this.#stream = stream
    this.#sink = null
    this.#trailers = undefined
    this.#failure = null
    this.#reading = false
    this.#paused = false
  }

  /** Whether the consumer accepts bytes now. */
  get flowing(): boolean {
    return this.#sink !== null && !this.#paused
  }

  pipe(sink: BodySink): void {
    sink.source = this
    this.#sink = sink
    if (sink.takesFramed) sink.framed = false
    if (this.#failure !== null) return this.abort(this.#failure)
    if (this.done) return this.end(this.#trailers)
    this.#owner.bodyWanted()
    if (this.#reading) return this.resume()
    this.#reading = true
    const stream = this.#stream
    if (stream === null) return
    stream[READER] = this
    stream.on('data', BodyReader.#onData)
  }

  pause(): void {
    if (this.#paused) return
    this.#paused = true
    this.#stream?.pause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#owner.bodyWanted()
    this.#stream?.resume()
  }

  /** Reports to the sink, even if it is attached later, that the body is complete, unless it was truncated before. */
  end(trailers: Head | undefined): void {
    if (this.#failure !== null) return
    this.done = true
    this.#trailers = trailers
    this.#letGo()?.end(trailers)
  }

  /** Reports to the sink, even if it is attached later, that the body is truncated. */
  abort(why: Abort): void {
    this.#failure = why
    this.#letGo()?.abort(why)
  }

  /** The same listener for all streams. */
  static readonly #onData = function (this: ReadStream, bytes: Buffer): void {
    const reader = this[READER]
    if (reader) reader.#take(bytes)
  }

  #take(bytes: Buffer): void {
    const sink = this.#sink
    if (sink === null) return
    this.receivedBytes += bytes.length
    this.#owner.bodyWanted()
    sink.bytes(bytes, 0, bytes.length)
    if (sink.backed) this.pause()
  }

  #letGo(): BodySink | null {
    const sink = this.#sink
    this.#sink = null
    if (this.#stream !== null) this.#stream[READER] = null
    if (sink !== null && sink.source === this) sink.source = null
    return sink
  }
}
