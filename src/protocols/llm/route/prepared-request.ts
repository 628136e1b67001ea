import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { LlmReads } from '#exchange/llm-reads.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { ResponsePlan } from '../answer/response-plan.ts'
import { KeptAnswer } from '../facts/kept-answer.ts'
import type { HeaderEdits } from '../providers/provider.ts'
import type { PreparedSession } from '../realtime/prepare-session.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import type { LocalCount } from './count-tokens.ts'

/** A refusal in the client's dialect, the request to send or to open a session with, or what the gateway responds to itself. */
export type PreparedRequest = PreparedLlmRequest | PreparedSession | LocalCount | ModelsRequest | Refusal

/** The request for the provider, and how its response is read. */
export interface PreparedLlmRequest {
  readonly kind: 'send'
  readonly type: RouteType
  /** Request target: path and query. */
  readonly path: string
  readonly headers: HeaderEdits
  /** The body to send: the given bytes if nothing changed; undefined: forward the body as it arrives. */
  readonly body: Uint8Array | undefined
  /** Becomes `exchange.llm`; undefined for Passthrough. */
  readonly facts: LlmFacts | undefined
  readonly response: ResponsePlan
}

/** The client asks for the list of models. */
export interface ModelsRequest {
  readonly kind: 'models'
}

/** Inputs besides the exchange. */
export interface RequestInput {
  /** The whole body; undefined if it exceeds the limit, or was not read (`bodyNeed`). */
  readonly body: Uint8Array | undefined
  /** The parts of the call that limits and expressions in force read. */
  readonly reads: LlmReads
  /** Limit of bodies in bytes, and of what is kept of a response for expressions in characters. */
  readonly maxKept: number
}

/** Keeps what expressions in force read of the answer. */
export function keptAnswer({ reads, maxKept }: RequestInput): KeptAnswer | undefined {
  return reads.completion || reads.toolCalls ? new KeptAnswer(reads, maxKept) : undefined
}
