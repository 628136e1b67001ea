import type { BodyClaim } from '#net/body/body-memory.ts'
import type { BodySink } from '#net/stream.ts'
import type { AnswerFilter } from '../../backend-protocol.ts'
import type { TokenAccount } from '../tokens/token-account.ts'

/** Puts the token account in front of a filter: the account sees the response as the provider sends it. */
export function sampled(filter: AnswerFilter, account: TokenAccount, claim: BodyClaim): AnswerFilter {
  const into = filter.into.bind(filter)
  return Object.assign(filter, { into: (sink: BodySink) => account.sample(into(sink), claim) })
}
