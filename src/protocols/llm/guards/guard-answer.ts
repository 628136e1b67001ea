import type { Steps } from '#base/in-slices.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { Head } from '#net/http/head.ts'
import type { BodySink } from '#net/stream.ts'
import type { AnswerFailure, AnswerFilter } from '../../backend-protocol.ts'
import type { ChatType } from '../dialects/index.ts'
import { formatRefusal } from '../dialects/refuse.ts'
import { forgetBytes } from '../translation/translate-head.ts'
import type { Guard } from './guard.ts'
import { guardBody, type ReadBody } from './guard-body.ts'
import { GuardedRefusal } from './guarded-refusal.ts'
import { readAnswerBody, readErrorBody } from './read-answer-body.ts'

const NO_BYTES = new Uint8Array(0)

export interface GuardedAnswerOptions {
  readonly guards: readonly Guard[]
  readonly format: ChatType
  /** The response has an error status. */
  readonly isError: boolean
  readonly exchange: Exchange
  readonly claim: BodyClaim
  readonly maxBytes: number
  /** Reads the texts that the client gets, for expressions. */
  readonly keep: ((body: Uint8Array) => void) | undefined
}

/** Runs the response guards on a whole answer in the dialect of the client, behind the filter that reads and translates it. */
export class GuardedAnswer implements AnswerFilter {
  readonly changesLength = true
  readonly whole = true
  readonly #inner: AnswerFilter | undefined
  readonly #options: GuardedAnswerOptions
  readonly #guarded: GuardedRefusal
  #refusal: Refusal | undefined

  constructor(inner: AnswerFilter | undefined, options: GuardedAnswerOptions) {
    this.#inner = inner
    this.#options = options
    this.#guarded = new GuardedRefusal(options)
  }

  get refusal(): Refusal | undefined {
    return this.#guarded.of(this.#inner?.refusal) ?? this.#refusal
  }

  get failure(): AnswerFailure | undefined {
    return this.#inner?.failure
  }

  into(sink: BodySink): BodySink {
    const guarding = new GuardingSink(sink, this.#options, this.#inner, (refusal) => {
      this.#refusal = refusal
    })
    return this.#inner?.into(guarding) ?? guarding
  }

  whenOver(cancel: () => void): void {
    this.#inner?.whenOver?.(cancel)
  }
}

/** Holds the body, and sends at its end what the guards let through. */
class GuardingSink extends ForwardingSink {
  readonly #options: GuardedAnswerOptions
  readonly #inner: AnswerFilter | undefined
  readonly #refuse: (refusal: Refusal) => void
  readonly #held: HeldBytes
  #isTooLarge = false

  constructor(
    sink: BodySink,
    options: GuardedAnswerOptions,
    inner: AnswerFilter | undefined,
    refuse: (refusal: Refusal) => void,
  ) {
    super(sink)
    this.#options = options
    this.#inner = inner
    this.#refuse = refuse
    this.#held = new HeldBytes(options.claim, options.maxBytes)
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (!this.#isTooLarge && !this.#held.appendWithin(buffer, start, end)) this.#isTooLarge = true
  }

  override end(trailers?: Head): void {
    if (this.#inner?.refusal !== undefined) return this.#release(NO_BYTES, trailers)
    if (this.#isTooLarge) return this.#close(unreadable('it is too large'), trailers)
    const late = trailers?.clone()
    if (late !== undefined) forgetBytes(late)
    const guarded = this.#guard(this.#held.bytes)
    if (guarded instanceof Promise) void guarded.then((outcome) => this.#conclude(outcome, late))
    else this.#conclude(guarded, late)
  }

  #guard(body: Buffer): Uint8Array | Refusal | Promise<Uint8Array | Refusal> {
    const { guards, format, exchange, isError } = this.#options
    const reading = isError ? readErrorBody(body) : readAnswerBody(body, format)
    return guardBody({ guards, exchange, head: exchange.response!, read: readOrRefuse(reading) })
  }

  #conclude(outcome: Uint8Array | Refusal, trailers: Head | undefined): void {
    if ('kind' in outcome) return this.#close(outcome, trailers)
    this.#options.keep?.(outcome)
    this.#release(outcome, trailers)
  }

  #close(refusal: Refusal, trailers: Head | undefined): void {
    this.#refuse(formatRefusal(this.#options.format, refusal))
    this.#release(NO_BYTES, trailers)
  }

  #release(body: Uint8Array, trailers: Head | undefined): void {
    if (body.length > 0) this.sink.bytes(asBuffer(body), 0, body.length)
    this.#held.drop()
    this.sink.end(trailers)
  }
}

function* readOrRefuse(reading: Steps<ReadBody | string>): Steps<ReadBody | Refusal> {
  const read = yield* reading
  return typeof read === 'string' ? unreadable(read) : read
}

/** An answer that the guards cannot read: nothing passes. */
function unreadable(why: string): Refusal {
  return reject('llm-response-invalid', { detail: `the response guards cannot read the response: ${why}` })
}
