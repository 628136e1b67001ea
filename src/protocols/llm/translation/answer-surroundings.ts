import type { Exchange } from '#exchange/exchange.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { KeptAnswer } from '../facts/kept-answer.ts'

/** What a response is translated with. */
export interface AnswerSurroundings {
  readonly exchange: Exchange
  readonly facts: LlmFacts
  readonly kept: KeptAnswer | undefined
  readonly claim: BodyClaim
  /** Of a whole answer, and of one event of a stream. */
  readonly maxBytes: number
}
