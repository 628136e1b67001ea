import type { Abort, BodyKind, BodySink, BodySource } from '../stream.ts'
import { BODY_CHUNKED, BODY_NONE } from '../stream.ts'
import { Framer } from './framer.ts'

/** The connection of a reader. */
export interface ReaderOwner {
  /** The body has a consumer now: feed buffered bytes and continue reading. */
  bodyWanted(): void
  /** The consumer is backed up: pause reading. */
  bodyHeld(): void
}

/** The body of a received message: takes bytes from its connection and delivers the payload to its sink. */
export class BodyReader implements BodySource {
  kind: BodyKind = BODY_NONE
  length = -1
  readonly #owner: ReaderOwner
  readonly #framer = new Framer()
  #sink: BodySink | null = null
  #framed = false
  #paused = false
  #discarding = false
  #failure: Abort | null = null

  constructor(owner: ReaderOwner) {
    this.#owner = owner
  }

  /** Begins a body. @param length as in `BodySource.length`; used only for BODY_LENGTH */
  start(kind: BodyKind, length: number): void {
    this.kind = kind
    this.length = length
    this.#framer.start(kind, length)
    this.#sink = null
    this.#paused = false
    this.#discarding = false
    this.#failure = null
  }

  /** The body has been read completely. */
  get done(): boolean {
    return this.#framer.done
  }

  /** The framing is invalid. */
  get bad(): boolean {
    return this.#framer.bad
  }

  /** Bytes left to read; -1 if unknown. */
  get left(): number {
    return this.#framer.left
  }

  /** Whether the consumer accepts bytes now. */
  get flowing(): boolean {
    return this.#discarding || (this.#sink !== null && !this.#paused)
  }

  pipe(sink: BodySink): void {
    sink.source = this
    this.#sink = sink
    this.#paused = false
    this.#framed = sink.takesFramed && this.kind === BODY_CHUNKED
    if (sink.takesFramed) sink.framed = this.#framed
    if (this.#failure !== null) this.abort(this.#failure)
    else if (this.#framer.done) this.end()
    else this.#owner.bodyWanted()
  }

  pause(): void {
    if (this.#paused) return
    this.#paused = true
    this.#owner.bodyHeld()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#owner.bodyWanted()
  }

  /** Discards the rest of the body. */
  discard(): void {
    this.#discarding = true
    this.abort('cancelled')
  }

  /** Takes bytes from the connection. @returns the index after the body bytes; meaningless if `bad` */
  feed(buffer: Buffer, start: number, end: number): number {
    return this.#framer.feed(buffer, start, end, this, this.#framed)
  }

  /** Called by the framer. */
  bytes(buffer: Buffer, start: number, end: number): void {
    const sink = this.#sink
    if (sink === null) return
    sink.bytes(buffer, start, end)
    if (sink.backed) this.pause()
  }

  /** The connection has ended. @returns whether the body is complete */
  close(): boolean {
    return this.#framer.close()
  }

  /** Ends the sink. */
  end(): void {
    this.#letGo()?.end()
  }

  /** Reports to the sink, even if it is attached later, that the body is truncated. */
  abort(why: Abort): void {
    this.#failure = why
    this.#letGo()?.abort(why)
  }

  #letGo(): BodySink | null {
    const sink = this.#sink
    this.#sink = null
    if (sink !== null && sink.source === this) sink.source = null
    return sink
  }
}
