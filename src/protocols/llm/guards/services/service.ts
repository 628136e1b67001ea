import type { Call } from '#exchange/call.ts'
import type { Head } from '#net/http/head.ts'

export type GuardPhase = 'request' | 'response'

/** A service that judges texts (specification 2, 2.5). */
export interface GuardService {
  readonly kind: 'webhook' | 'moderationEndpoint' | 'guardrailsServiceOne' | 'guardrailsServiceTwo'
  /** Key of the backend. */
  readonly destination: string
  /** It may answer with masked texts; the others only judge, so that neighbours run at the same time. */
  readonly masks: boolean
  /** Never rejects: what goes wrong is `failed` (decisions B52, B57). */
  judge(question: GuardQuestion, around: GuardSurroundings): Promise<ServiceVerdict>
}

export interface GuardQuestion {
  readonly phase: GuardPhase
  /** Of a stream: the next part of the text of a block, with the end of what came before. */
  readonly messages: readonly GuardedMessage[]
  /** The head of the message that is checked. */
  readonly head: Head
}

export interface GuardedMessage {
  readonly role: string
  readonly content: string
}

export interface GuardSurroundings {
  readonly call: Call
  /** Aborted when the request is abandoned. */
  readonly signal: AbortSignal
  /** When all guards of the request must be done (`clock.monotonic`). */
  readonly untilMs: number
}

export type ServiceVerdict = (
  | { readonly kind: 'pass' }
  /** One content for each message, in order. */
  | { readonly kind: 'mask'; readonly contents: readonly string[] }
  /** Status and body replace those of the guard's `response`. */
  | { readonly kind: 'reject'; readonly status?: number; readonly body?: string }
  | FailedVerdict
) & {
  /** The id under which the service knows the request. */
  readonly requestId?: string | undefined
}

export interface FailedVerdict {
  readonly kind: 'failed'
  /** For the operator; without any checked text. */
  readonly detail: string
  /**
   * It says nothing about other questions. `answered`: the service does not take this text, or a header of this client. `unasked`: the request
   * had no credential, or no time. `out-of-time`: it had too little time for the answer.
   */
  readonly sparesService?: 'answered' | 'unasked' | 'out-of-time'
}
