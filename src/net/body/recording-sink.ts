import type { BodySink } from '../stream.ts'
import type { CollectLimits } from './collect-body.ts'
import { ForwardingSink } from './forwarding-sink.ts'
import { HeldBytes } from './held-bytes.ts'

/** Passes a body on at once and keeps a copy of its first `maxBytes`, or of less where there is no memory for them. */
export class RecordingSink extends ForwardingSink {
  readonly #copy: HeldBytes
  #maxBytes: number

  constructor(sink: BodySink, { maxBytes, claim }: CollectLimits) {
    super(sink)
    this.#copy = new HeldBytes(claim, maxBytes)
    this.#maxBytes = maxBytes
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    const room = this.#maxBytes - this.#copy.length
    // Behind a piece that is missing nothing is kept.
    if (room > 0 && !this.#copy.append(buffer, start, Math.min(end, start + room))) this.#maxBytes = 0
    this.sink.bytes(buffer, start, end)
  }

  /** What has passed so far, as far as it is kept. */
  get recorded(): Uint8Array {
    return this.#copy.bytes
  }
}
