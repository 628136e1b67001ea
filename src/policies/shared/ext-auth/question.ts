import type { Call } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { FailedCall } from '#exchange/failed-call.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { TracedCallout } from '#exchange/trace.ts'
import type { Verdict } from './verdict.ts'

/** What came back: a decision, one that the request completes, or a failure of the server. */
export type Answered = Verdict | ((exchange: Exchange) => Verdict) | FailedCall

/** The question about one request. */
export interface Question {
  /** Sends it. The promise does not use the exchange. */
  send(call: Call, signal: AbortSignal): Promise<Answered>
  /** For `explain`. */
  describe(): TracedCallout['question']
}

/**
 * Prepares the question about a request.
 * @param backend key of the backend of the server
 * @param body undefined: it is not forwarded
 * @returns a refusal if it cannot be asked
 */
export type Prepare = (backend: string, exchange: Exchange, body: Uint8Array | undefined) => Question | Refusal
