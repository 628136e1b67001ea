import type { Refusal } from '#exchange/outcome.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { ResponseDecoding } from '#net/body/response-decoding.ts'
import type { Head } from '#net/http/head.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import type { AnswerFailure, AnswerFilter } from '../../backend-protocol.ts'
import { unusableAnswer } from '../facts/stream-error.ts'

/** A larger answer is not decoded: it would take too long in one turn of the event loop. The rest of it is not read. */
const MAX_HELD_BYTES = 1024 * 1024

export interface DecodedOptions {
  /** The value of `Content-Encoding`. */
  readonly coding: string
  readonly claim: BodyClaim
  readonly decode: ResponseDecoding['received']
  /** Limit of the decoded body. */
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
  readonly mayRefuse = true
  readonly #filter: AnswerFilter
  readonly #options: DecodedOptions
  #isUnreadable = false
  #isOver = false
  #begun = () => {}
  #cancel: (() => void) | undefined

  constructor(filter: AnswerFilter, options: DecodedOptions) {
    this.#filter = filter
    this.#options = options
  }

  /** The filter may make a stream of it, of any length. */
  get whole(): boolean {
    return this.#filter.whole === true || this.#filter.mayRefuse !== true
  }

  get isJudging(): boolean {
    return !this.#isOver
  }

  get refusal(): Refusal | undefined {
    return this.#isUnreadable ? this.#options.refusal : this.#filter.refusal
  }

  get failure(): AnswerFailure | undefined {
    const isFailure = this.#isUnreadable && this.#options.refusal !== undefined
    return isFailure ? unusableAnswer('content coding') : this.#filter.failure
  }

  whenOver(cancel: () => void): void {
    this.#cancel = cancel
    this.#filter.whenOver?.(cancel)
  }

  whenBegun(begun: () => void): void {
    this.#begun = begun
  }

  into(sink: BodySink): BodySink {
    // Nothing is sent before the end, so that a failure before the first content is a refusal.
    this.#filter.whenBegun?.(() => {
      this.#isOver = true
      this.#begun()
    })
    return new DecodingSink(this.#filter.into(sink), this.#options, {
      unreadable: () => {
        this.#isUnreadable = true
        this.#isOver = true
        // The refusal replaces the output of the filter.
        return this.#options.refusal === undefined ? undefined : sink
      },
      over: () => this.#cancel?.(),
    })
  }
}

interface DecodingEvents {
  /** The body cannot be decoded. @returns the sink that gets its end instead of the filter */
  readonly unreadable: () => BodySink | undefined
  /** The rest of the body is not needed. */
  readonly over: () => void
}

/** Decodes a body at its end. */
class DecodingSink extends ForwardingSink {
  readonly #options: DecodedOptions
  readonly #events: DecodingEvents
  readonly #held: HeldBytes
  /** The body was too large: the rest of it is ignored. */
  #isOver = false

  constructor(sink: BodySink, options: DecodedOptions, events: DecodingEvents) {
    super(sink)
    this.#options = options
    this.#events = events
    this.#held = new HeldBytes(options.claim, MAX_HELD_BYTES)
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#isOver || this.#held.appendWithin(buffer, start, end)) return
    this.#isOver = true
    this.#held.drop()
    this.#refuse()
    this.sink.end()
    this.#events.over()
  }

  override end(trailers?: Head): void {
    if (this.#isOver) return
    this.#decode()
    super.end(trailers)
  }

  override abort(why: Abort): void {
    if (this.#isOver) return
    if (why !== 'cancelled') this.#decode()
    super.abort(why)
  }

  #refuse(): void {
    this.sink = this.#events.unreadable() ?? this.sink
  }

  #decode(): void {
    const { coding, decode, maxBytes } = this.#options
    const decoded = decode(coding, this.#held.bytes, maxBytes)
    this.#held.drop()
    if (decoded === undefined) this.#refuse()
    else this.sink.bytes(asBuffer(decoded), 0, decoded.length)
  }
}
