import type { Exchange } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { KeptAnswer } from '../../answer/kept-answer.ts'
import type { StreamFormat } from '../../answer/stream-format.ts'
import type { Guard } from '../guard.ts'
import type { GuardedFormat } from '../guarded-format.ts'

export interface GuardedStreamOptions {
  readonly guards: readonly Guard[]
  readonly format: GuardedFormat
  /** Of the client's dialect. */
  readonly stream: StreamFormat
  readonly exchange: Exchange
  readonly claim: BodyClaim
  readonly maxEventBytes: number
  /** Keeps what the client gets, for expressions. */
  readonly kept: KeptAnswer | undefined
}

export interface GuardingOptions extends GuardedStreamOptions {
  /** The first content leaves. */
  readonly begin: () => void
  /** The client gets this instead, if nothing has been sent to it. */
  readonly refused: (refusal: Refusal) => void
  /** The rest of the provider's response is not needed. */
  readonly over: () => void
}
