import type { Refusal } from '#exchange/outcome.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { Head } from '#net/http/head.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import type { AnswerFailure, AnswerFilter, DecodeReceived } from '../../backend-protocol.ts'
import { unusableAnswer } from './stream-error.ts'

/** A larger answer is not decoded: it would take too long in one turn of the event loop. */
const MAX_HELD_BYTES = 1024 * 1024

export interface DecodedOptions {
  /** The value of `Content-Encoding`. */
  readonly coding: string
  readonly claim: BodyClaim
  readonly decode: DecodeReceived
  /** Of what it decodes to. */
  readonly maxBytes: number
  /** What the client gets if it cannot be decoded; undefined: the filter gets an empty body. */
  readonly refusal: Refusal | undefined
}

/**
 * Decodes a compressed response for a filter that translates it. The gateway asks for uncompressed responses, so only providers that ignore
 * `Accept-Encoding` cause this: it is decoded as a whole.
 */
export class DecodedAnswer implements AnswerFilter {
  readonly changesLength = true
  readonly whole = true
  readonly #filter: AnswerFilter
  readonly #options: DecodedOptions
  #isUnreadable = false

  constructor(filter: AnswerFilter, options: DecodedOptions) {
    this.#filter = filter
    this.#options = options
  }

  get refusal(): Refusal | undefined {
    return this.#isUnreadable ? this.#options.refusal : this.#filter.refusal
  }

  get failure(): AnswerFailure | undefined {
    const isFailure = this.#isUnreadable && this.#options.refusal !== undefined
    return isFailure ? unusableAnswer('content coding') : this.#filter.failure
  }

  into(sink: BodySink): BodySink {
    // Nothing is sent before the end, so that a failure before the first content is a refusal.
    this.#filter.whenBegun?.(() => {})
    return new DecodingSink(this.#filter.into(sink), this.#options, () => {
      this.#isUnreadable = true
    })
  }
}

/** Decodes a body at its end. */
class DecodingSink extends ForwardingSink {
  readonly #options: DecodedOptions
  readonly #unreadable: () => void
  readonly #held: HeldBytes
  #isTooLong = false

  constructor(sink: BodySink, options: DecodedOptions, unreadable: () => void) {
    super(sink)
    this.#options = options
    this.#unreadable = unreadable
    this.#held = new HeldBytes(options.claim, MAX_HELD_BYTES)
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (!this.#isTooLong && !this.#held.appendWithin(buffer, start, end)) this.#isTooLong = true
  }

  override end(trailers?: Head): void {
    this.#decode()
    super.end(trailers)
  }

  override abort(why: Abort): void {
    if (why !== 'cancelled') this.#decode()
    super.abort(why)
  }

  #decode(): void {
    const { coding, decode, maxBytes } = this.#options
    const decoded = this.#isTooLong ? undefined : decode(coding, this.#held.bytes, maxBytes)
    this.#held.drop()
    if (decoded === undefined) this.#unreadable()
    else this.sink.bytes(asBuffer(decoded), 0, decoded.length)
  }
}
