import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import type { BodySink } from '#net/stream.ts'
import type { MemberReader } from './json/member-reader.ts'

/** Passes a JSON answer on, uncopied and in the same call, and lets a reader see it. */
export class JsonAnswer extends ForwardingSink {
  readonly #reader: MemberReader

  constructor(sink: BodySink, reader: MemberReader) {
    super(sink)
    this.#reader = reader
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    // Read first: facts must be there when the last bytes leave and the request is logged.
    this.#reader.push(buffer.subarray(start, end))
    super.bytes(buffer, start, end)
  }
}
