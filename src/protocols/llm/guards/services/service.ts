import type { Call } from '#exchange/call.ts'
import type { Head } from '#net/http/head.ts'

export type GuardPhase = 'request' | 'response'

/** A service that judges texts (specification 2, 2.5). */
export interface GuardService {
  readonly kind: 'webhook' | 'moderationEndpoint' | 'guardrailsServiceOne' | 'guardrailsServiceTwo'
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
  /** What is left of the time that all guards of a request may take together, in milliseconds. */
  readonly budgetMs: number
}

export type ServiceVerdict = (
  | { readonly kind: 'pass' }
  /** One content for each message, in order. */
  | { readonly kind: 'mask'; readonly contents: readonly string[] }
  /** Status and body replace those of the guard's `response`. */
  | { readonly kind: 'reject'; readonly status?: number; readonly body?: string }
  /** For the operator; without any checked text. */
  | { readonly kind: 'failed'; readonly detail: string }
) & {
  /** The id under which the service knows the request. */
  readonly requestId?: string | undefined
}
