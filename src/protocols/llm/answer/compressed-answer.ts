import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { ResponseDecoding } from '#net/body/response-decoding.ts'
import type { Head } from '#net/http/head.ts'
import type { Abort, BodySink, BodySource } from '#net/stream.ts'

/** A larger answer is not decoded: it would take too long in one turn of the event loop. */
const MAX_HELD_BYTES = 1024 * 1024
const MAX_DECODED_BYTES = 4 * 1024 * 1024

/** The beginning of a stream is decoded again with each piece, up to this many compressed and decoded bytes in total. */
const MAX_BEGINNING_BYTES = 1024 * 1024

export interface CompressedOptions {
  readonly coding: string
  readonly claim: BodyClaim
  readonly decode: ResponseDecoding['received']
  /** Reads the decoded answer. */
  readonly reader: BodySink
  /** Whether the reader still waits for the first content of a stream. */
  readonly awaitsContent: () => boolean
  /** Called if too much was read without finding content. */
  readonly onGivenUp: () => void
  /** Called if the answer cannot be decoded, or is too long. */
  readonly onUnreadable: (length: number) => void
}

/**
 * Forwards a compressed response without changing it, and shows its contents to a reader: the beginning of a stream as it arrives, and the rest
 * at its end. The gateway asks for uncompressed responses, so only providers that ignore `Accept-Encoding` cause this.
 */
export class CompressedAnswer extends ForwardingSink {
  readonly #options: CompressedOptions
  readonly #held: HeldBytes
  #length = 0
  /** How many decoded bytes the reader has. */
  #shown = 0
  #beginningLeft = MAX_BEGINNING_BYTES
  #isRead = false

  constructor(sink: BodySink, options: CompressedOptions) {
    super(sink)
    this.#options = options
    this.#held = new HeldBytes(options.claim, MAX_HELD_BYTES)
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#isHeld) this.#held.appendWithin(buffer, start, end)
    this.#length += end - start
    if (this.#options.awaitsContent()) this.#readBeginning()
    super.bytes(buffer, start, end)
  }

  override end(trailers?: Head): void {
    if (this.readAll()) this.#options.reader.end()
    super.end(trailers)
  }

  override abort(why: Abort): void {
    if (why !== 'cancelled' && this.readAll()) this.#options.reader.abort(why)
    super.abort(why)
  }

  /** Shows the reader all that has arrived. @returns whether it could be decoded, and had not been shown */
  readAll(): boolean {
    if (this.#isRead) return false
    this.#isRead = true
    const isDecoded = this.#show(MAX_DECODED_BYTES)
    if (!isDecoded) this.#options.onUnreadable(this.#length)
    this.#held.drop()
    return isDecoded
  }

  #readBeginning(): void {
    const isDecoded = this.#show(this.#beginningLeft)
    this.#beginningLeft -= isDecoded ? this.#held.length + this.#shown : this.#beginningLeft
    if (this.#beginningLeft <= 0) this.#options.onGivenUp()
  }

  #show(maxBytes: number): boolean {
    const { coding, decode, reader } = this.#options
    const decoded = this.#isHeld ? decode(coding, this.#held.bytes, maxBytes) : undefined
    if (decoded === undefined) return false
    const from = this.#shown
    this.#shown = decoded.length
    if (decoded.length > from) reader.bytes(asBuffer(decoded), from, decoded.length)
    return true
  }

  get #isHeld(): boolean {
    return this.#held.length === this.#length
  }
}

/** Discards what a reader forwards. */
export class NoSink implements BodySink {
  readonly backed = false
  readonly takesFramed = true
  source: BodySource | null = null
  bytes(): void {}
  end(): void {}
  abort(): void {}
}
