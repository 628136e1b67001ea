import type { Exchange } from './exchange.ts'
import type { Outcome } from './outcome.ts'

/** Work on the request; synchronous whenever it can be. */
export type Step = (exchange: Exchange) => Outcome | Promise<Outcome>

/** Work on the response head (and its body where the policy asked for it); cannot refuse, but may replace the answer. */
export type ResponseStep = (exchange: Exchange) => Outcome
