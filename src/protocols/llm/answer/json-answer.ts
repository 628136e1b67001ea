import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import type { BodySink } from '#net/stream.ts'
import type { MemberReader } from '../json/member-reader.ts'

/** Forwards a JSON response in the same call without copying it, and shows it to a reader. */
export class JsonAnswer extends ForwardingSink {
  readonly #reader: MemberReader

  constructor(sink: BodySink, reader: MemberReader) {
    super(sink)
    this.#reader = reader
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    // The reader runs first: the facts must be known when the last bytes leave and the request is logged.
    this.#reader.push(buffer.subarray(start, end))
    super.bytes(buffer, start, end)
  }
}
