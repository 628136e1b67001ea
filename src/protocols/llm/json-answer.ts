import type { Abort, BodySink, BodySource } from '#net/stream.ts'
import type { MemberReader } from './json/member-reader.ts'

/** Passes a JSON answer on, uncopied and in the same call, and lets a reader see it. */
export class JsonAnswer implements BodySink {
  readonly takesFramed = false
  readonly #sink: BodySink
  readonly #reader: MemberReader

  constructor(sink: BodySink, reader: MemberReader) {
    this.#sink = sink
    this.#reader = reader
  }

  get backed(): boolean {
    return this.#sink.backed
  }

  get source(): BodySource | null {
    return this.#sink.source
  }

  set source(source: BodySource | null) {
    this.#sink.source = source
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    // Read first: facts must be there when the last bytes leave and the request is logged.
    this.#reader.push(buffer.subarray(start, end))
    this.#sink.bytes(buffer, start, end)
  }

  end(): void {
    this.#sink.end()
  }

  abort(why: Abort): void {
    this.#sink.abort(why)
  }
}
