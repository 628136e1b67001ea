import type { BodySink } from '../stream.ts'
import { HoldBuffer } from '../transport/hold-buffer.ts'
import { ForwardingSink } from './forwarding-sink.ts'

/** Passes a body on at once and keeps a copy of its first `maxBytes`. */
export class RecordingSink extends ForwardingSink {
  readonly #maxBytes: number
  readonly #copy = new HoldBuffer()

  constructor(sink: BodySink, maxBytes: number) {
    super(sink)
    this.#maxBytes = maxBytes
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    const room = this.#maxBytes - this.#copy.length
    if (room > 0 && end > start) this.#copy.append(buffer, start, Math.min(end, start + room))
    this.sink.bytes(buffer, start, end)
  }

  /** What has passed so far, as far as it is kept. */
  get recorded(): Uint8Array {
    return this.#copy.bytes.subarray(0, this.#copy.length)
  }
}
