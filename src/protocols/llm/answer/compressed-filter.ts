import type { BodySink } from '#net/stream.ts'
import type { AnswerFailure, AnswerFilter } from '../../backend-protocol.ts'
import type { TokenAccount } from '../tokens/token-account.ts'
import { CompressedAnswer, type CompressedOptions, NoSink } from './compressed-answer.ts'
import { sampled } from './sampled.ts'

export interface CompressedFilterOptions extends Pick<CompressedOptions, 'coding' | 'claim' | 'decode'> {
  readonly account: TokenAccount | undefined
  /** It is a stream, in which the reader waits for the first content. */
  readonly awaitsContent: boolean
}

/** Forwards a compressed answer unchanged, and another filter reads the decoded answer. */
export class CompressedFilter implements AnswerFilter {
  readonly changesLength = false
  readonly #options: CompressedFilterOptions
  readonly #filter: AnswerFilter
  readonly #reader: BodySink
  #awaitsContent: boolean
  #begun: (() => void) | undefined

  /** @param filter reads the decoded answer */
  constructor(filter: AnswerFilter, options: CompressedFilterOptions) {
    const { account, claim, awaitsContent } = options
    this.#options = options
    this.#awaitsContent = awaitsContent
    filter.whenBegun?.(() => this.#begin())
    this.#filter = account === undefined ? filter : sampled(filter, account, claim)
    this.#reader = this.#filter.into(new NoSink())
  }

  get failure(): AnswerFailure | undefined {
    return this.#filter.failure
  }

  whenBegun(begun: () => void): void {
    this.#begun = begun
  }

  into(sink: BodySink): BodySink {
    const { coding, claim, decode, account } = this.#options
    const answer = new CompressedAnswer(sink, {
      ...{ coding, claim, decode, reader: this.#reader },
      awaitsContent: () => this.#awaitsContent,
      onGivenUp: () => this.#begin(),
      onUnreadable: (length) => account?.missed(length),
    })
    account?.readsLater(() => answer.readAll())
    return answer
  }

  #begin(): void {
    this.#awaitsContent = false
    this.#begun?.()
  }
}
