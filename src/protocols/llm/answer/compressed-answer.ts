import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { Head } from '#net/http/head.ts'
import type { BodySink, BodySource } from '#net/stream.ts'
import type { DecodeReceived } from '../../backend-protocol.ts'

/** A larger answer is not decoded: it would take too long in one turn of the event loop. */
const MAX_HELD_BYTES = 1024 * 1024
const MAX_DECODED_BYTES = 4 * 1024 * 1024

export interface CompressedOptions {
  readonly coding: string
  readonly claim: BodyClaim
  readonly decode: DecodeReceived
  /** Reads the decoded answer. */
  readonly reader: BodySink
  /** Called if the answer cannot be decoded, or is too long. */
  readonly onUnreadable: (length: number) => void
}

/**
 * Forwards a compressed response without changing it, and shows its contents to a reader at its end. The gateway asks for uncompressed
 * responses, so only providers that ignore `Accept-Encoding` cause this.
 */
export class CompressedAnswer extends ForwardingSink {
  readonly #options: CompressedOptions
  readonly #held: HeldBytes
  #length = 0
  #isRead = false

  constructor(sink: BodySink, options: CompressedOptions) {
    super(sink)
    this.#options = options
    this.#held = new HeldBytes(options.claim, MAX_HELD_BYTES)
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#held.length === this.#length) this.#held.appendWithin(buffer, start, end)
    this.#length += end - start
    super.bytes(buffer, start, end)
  }

  override end(trailers?: Head): void {
    this.read(true)
    super.end(trailers)
  }

  /** Shows the reader what has arrived. */
  read(isWhole: boolean): void {
    if (this.#isRead) return
    this.#isRead = true
    const { coding, decode, reader, onUnreadable } = this.#options
    const { bytes } = this.#held
    const decoded = bytes.length === this.#length ? decode(coding, bytes, MAX_DECODED_BYTES) : undefined
    if (decoded === undefined) onUnreadable(this.#length)
    else reader.bytes(asBuffer(decoded), 0, decoded.length)
    if (isWhole) reader.end()
    this.#held.drop()
  }
}

/** Takes what a reader forwards. */
export class NoSink implements BodySink {
  readonly backed = false
  readonly takesFramed = true
  source: BodySource | null = null
  bytes(): void {}
  end(): void {}
  abort(): void {}
}
