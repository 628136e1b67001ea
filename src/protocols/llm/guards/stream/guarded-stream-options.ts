import type { Exchange } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { ChatType } from '../../dialects/index.ts'
import type { KeptAnswer } from '../../facts/kept-answer.ts'
import type { StreamFormat } from '../../facts/stream-format.ts'
import type { Guard } from '../guard.ts'

export interface GuardedStreamOptions {
  readonly guards: readonly Guard[]
  readonly format: ChatType
  /** Of the client's dialect. */
  readonly stream: StreamFormat
  readonly exchange: Exchange
  readonly claim: BodyClaim
  readonly maxEventBytes: number
  /** Keeps what the client gets, for expressions. */
  readonly kept: KeptAnswer | undefined
}

export interface GuardingOptions extends GuardedStreamOptions {
  /** Called when the first content has been sent. */
  readonly begin: () => void
  /** Called with the refusal that ends the stream; the client gets it as the response if nothing has been sent. */
  readonly refused: (refusal: Refusal) => void
  /** Called when the rest of the provider's response is not needed. */
  readonly over: () => void
}
