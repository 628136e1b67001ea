import type { Refusal } from '#exchange/outcome.ts'
import type { RunContext } from '#exchange/run-context.ts'
import type { WrapDecoding } from '#net/body/response-decoding.ts'
import type { BodySink } from '#net/stream.ts'
import type { AnswerFailure, AnswerFilter } from '../../backend-protocol.ts'
import { unusableAnswer } from '../facts/stream-error.ts'

export interface DecodedStreamOptions {
  readonly wrap: WrapDecoding
  readonly context: RunContext
  /** What the client gets if the stream cannot be decoded before its first content; undefined: what the filter makes of a broken stream. */
  readonly refusal: Refusal | undefined
}

/** Decodes a compressed stream for a filter that translates or guards it, as it arrives. To the filter, a damaged stream is a broken one. */
export class DecodedStream implements AnswerFilter {
  readonly changesLength = true
  readonly #filter: AnswerFilter
  readonly #options: DecodedStreamOptions
  #isDamaged = false
  #hasBegun = false
  #cancel: (() => void) | undefined
  whenBegun?: (begun: () => void) => void

  constructor(filter: AnswerFilter, options: DecodedStreamOptions) {
    this.#filter = filter
    this.#options = options
    if (filter.whenBegun !== undefined) this.whenBegun = (begun) => this.#register(begun)
  }

  get whole(): boolean {
    return this.#filter.whole === true
  }

  get mayRefuse(): boolean {
    return this.#filter.mayRefuse === true
  }

  get isJudging(): boolean {
    return this.#filter.isJudging === true
  }

  get refusal(): Refusal | undefined {
    const isRefused = this.#isDamaged && (this.whole || !this.#hasBegun)
    return isRefused ? (this.#options.refusal ?? this.#filter.refusal) : this.#filter.refusal
  }

  get failure(): AnswerFailure | undefined {
    return this.#isDamaged ? unusableAnswer('content coding') : this.#filter.failure
  }

  whenOver(cancel: () => void): void {
    this.#cancel = cancel
    this.#filter.whenOver?.(cancel)
  }

  into(sink: BodySink): BodySink {
    const { wrap, context } = this.#options
    return wrap(this.#filter.into(sink), {
      damaged: () => {
        this.#isDamaged = true
      },
      cancel: () => this.#cancel?.(),
      whenOver: (stop) => context.whenOver(stop),
    })
  }

  #register(begun: () => void): void {
    this.#filter.whenBegun!(() => {
      this.#hasBegun = !this.#isDamaged
      begun()
    })
  }
}
