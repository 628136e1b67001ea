import type { Refusal } from '#exchange/outcome.ts'
import { Head } from '#net/http1/head.ts'
import { type PreparedLlmRequest, prepareLlmRequest, routeTypeOf } from '#protocols/llm/prepare-request.ts'
import { type AnswerFilter, observeResponse } from '#protocols/llm/read-response.ts'
import { bodyNeed } from '#protocols/llm/route-type.ts'
import type { InFlight } from './in-flight.ts'
import { sendReply } from './respond.ts'

/** How an attempt at an LLM provider goes on. */
export type LlmAttempt = 'send' | 'answered' | Refusal

/** Whether the body of an LLM request has to be gathered before an attempt. Providers of one backend agree on the route type. */
export function llmBodyNeed(flight: InFlight): 'whole' | 'whole-if-small' | 'none' {
  const { ai } = flight.backend
  return bodyNeed(routeTypeOf(ai!.providers[0]!, flight.exchange))
}

/** Makes the request what the chosen provider wants; runs after the backend policies, since those bring the credential. */
export function prepareLlmAttempt(flight: InFlight): LlmAttempt {
  const { exchange, endpoint } = flight
  const { ai } = flight.backend
  const index = ai!.providers.findIndex(({ name }) => name === endpoint!.section || name === '')
  const body = exchange.newRequestBody ?? exchange.requestBody ?? undefined
  const prepared = prepareLlmRequest(ai!, index, exchange, { body, usageNeeded: exchange.tokenLimits !== undefined })
  if (prepared.kind === 'refusal') return prepared
  if (prepared.kind === 'llm-answer') {
    const head = Head.response(200)
    head.set('content-type', 'application/json')
    exchange.response = head
    exchange.reason = 'DirectResponse'
    sendReply(flight, { head, body: Buffer.from(prepared.body) })
    return 'answered'
  }
  applyPrepared(flight, prepared)
  return 'send'
}

function applyPrepared(flight: InFlight, prepared: PreparedLlmRequest): void {
  const { exchange } = flight
  const { request } = exchange
  request.target = prepared.path
  for (const name of prepared.headers.remove) request.remove(name)
  for (const [name, value] of prepared.headers.set) request.set(name, value)
  if (prepared.body !== undefined) exchange.newRequestBody = prepared.body
  exchange.llm = prepared.facts
  flight.llmResponse = prepared.response
}

/** Reads tokens and models out of a provider's answer while it passes. */
export function filterLlmResponse(flight: InFlight): AnswerFilter | undefined {
  return flight.llmResponse === undefined ? undefined : observeResponse(flight.llmResponse, flight.exchange)
}
