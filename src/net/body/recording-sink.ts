import type { BodySink } from '../stream.ts'
import type { CollectLimits } from './collect-body.ts'
import { ForwardingSink } from './forwarding-sink.ts'
import { HeldBytes } from './held-bytes.ts'

/** Forwards a body at once and keeps a copy of its first `maxBytes`, or fewer if there is no memory. */
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
    // After a missing piece, nothing more is kept.
    if (room > 0 && !this.#copy.append(buffer, start, Math.min(end, start + room))) this.#maxBytes = 0
    this.sink.bytes(buffer, start, end)
  }

  /** The copy so far. */
  get recorded(): Uint8Array {
    return this.#copy.bytes
  }
}
