import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import type { Head } from '#net/http/head.ts'
import type { BodySink } from '#net/stream.ts'
import type { MemberReader, ObjectFault } from '../json/member-reader.ts'

/** Forwards a JSON response in the same call without copying it, and shows it to a reader. */
export class JsonAnswer extends ForwardingSink {
  readonly #reader: MemberReader
  readonly #onFault: ((fault: ObjectFault) => void) | undefined

  /** @param onFault called at the end of a response that is no JSON object */
  constructor(sink: BodySink, reader: MemberReader, onFault: ((fault: ObjectFault) => void) | undefined) {
    super(sink)
    this.#reader = reader
    this.#onFault = onFault
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    // The reader runs first: the facts must be known when the last bytes leave and the request is logged.
    this.#reader.push(buffer.subarray(start, end))
    super.bytes(buffer, start, end)
  }

  override end(trailers?: Head): void {
    const { fault } = this.#reader
    if (fault !== undefined) this.#onFault?.(fault)
    super.end(trailers)
  }
}
