import type { Refusal } from '#exchange/outcome.ts'
import type { BodySink } from '#net/stream.ts'
import type { AnswerFailure, AnswerFilter } from '../../../backend-protocol.ts'
import { GuardedRefusal } from '../guarded-refusal.ts'
import type { GuardedStreamOptions } from './guarded-stream-options.ts'
import { GuardingStreamSink } from './guarding-stream-sink.ts'

/**
 * Runs the response guards on a stream in the dialect of the client, behind the filter that reads and translates it. Events are sent in the
 * order of the provider, each as soon as the guards have let all of its text pass. Untouched events keep their bytes.
 */
export class GuardedStream implements AnswerFilter {
  readonly changesLength = true
  readonly mayRefuse = true
  readonly #inner: AnswerFilter | undefined
  readonly #options: GuardedStreamOptions
  #begun: (() => void) | undefined
  #cancel: (() => void) | undefined
  readonly #guarded: GuardedRefusal
  #guarding: GuardingStreamSink | undefined
  #refusal: Refusal | undefined

  constructor(inner: AnswerFilter | undefined, options: GuardedStreamOptions) {
    this.#inner = inner
    this.#options = options
    this.#guarded = new GuardedRefusal(options)
  }

  get refusal(): Refusal | undefined {
    return this.#refusal ?? this.#guarded.of(this.#inner?.refusal)
  }

  get failure(): AnswerFailure | undefined {
    return this.#refusal === undefined ? this.#inner?.failure : undefined
  }

  get isJudging(): boolean {
    return this.#guarding?.isAsking === true || this.#inner?.isJudging === true
  }

  whenBegun(begun: () => void): void {
    this.#begun = begun
    // Content may still be held back; failures are reported immediately.
    this.#inner?.whenBegun?.(() => {
      if (this.#inner?.failure !== undefined || this.#inner?.refusal !== undefined) this.#begin()
    })
  }

  whenOver(cancel: () => void): void {
    this.#cancel = cancel
    this.#inner?.whenOver?.(cancel)
  }

  into(sink: BodySink): BodySink {
    const guarding = new GuardingStreamSink(sink, {
      ...this.#options,
      begin: () => this.#begin(),
      refused: (refusal) => {
        if (this.#begun !== undefined) this.#refusal = refusal
        this.#begin()
      },
      over: () => this.#cancel?.(),
    })
    this.#guarding = guarding
    return this.#inner?.into(guarding) ?? guarding
  }

  #begin(): void {
    const begun = this.#begun
    this.#begun = undefined
    begun?.()
  }
}
