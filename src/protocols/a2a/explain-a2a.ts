import { type A2aCall, readA2aCall } from '#exchange/a2a-call.ts'
import { EXTENDED_CARD } from '#exchange/a2a-methods.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { cardLocation, mapPaths, toClientPath } from './card-location.ts'

/** How the A2A protocol handles a request, for `explain`. */
export interface A2aExplanation {
  readonly binding: A2aCall['binding']
  /** Method of a call, and `agent-card`. */
  readonly method: string | undefined
  /** URL that replaces the root URL of the agent in a card. */
  readonly cardBase: string | undefined
}

/** @param exchange after the backend's policies; its `originalTarget` is what the client asked for */
export function explainA2a(exchange: Exchange, backendAuthority: string): A2aExplanation {
  const { request, requestBody } = exchange
  const { method, binding } = readA2aCall(request, requestBody)
  const isCard = binding === 'card' || method === EXTENDED_CARD
  const location = cardLocation(exchange, backendAuthority)
  return {
    binding,
    method: binding === undefined && request.method !== 'POST' ? undefined : method,
    cardBase: isCard ? location.clientOrigin + toClientPath(mapPaths(location), '/') : undefined,
  }
}

/** Lines of text for `explain`. */
export function describeA2a({ binding, method, cardBase }: A2aExplanation): string[] {
  if (method === undefined) return []
  const call = binding === 'card' ? 'A2A agent card' : `A2A call, method ${method}`
  return [cardBase === undefined ? call : `${call}; the base URL of the card becomes ${cardBase}`]
}
