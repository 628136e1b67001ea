import type { Exchange } from '#exchange/exchange.ts'
import { cardLocation, mapPaths, toClientPath } from './card-location.ts'
import { classifyRequest } from './classify-request.ts'
import { readMethod } from './read-method.ts'

/** How the A2A protocol handles a request, for `explain`. */
export interface A2aExplanation {
  readonly kind: 'agent-card' | 'call' | 'other'
  /** JSON-RPC method of a call. */
  readonly method: string | undefined
  /** URL that replaces the root URL of the agent in a card. */
  readonly cardBase: string | undefined
}

/** @param exchange after the backend's policies; its `originalTarget` is what the client asked for */
export function explainA2a(exchange: Exchange, backendAuthority: string, body: Uint8Array | undefined): A2aExplanation {
  const { request } = exchange
  const kind = classifyRequest(request.method, request.target)
  const location = cardLocation(exchange, backendAuthority)
  return {
    kind,
    method: kind === 'call' ? readMethod(request.get('content-type'), body) : undefined,
    cardBase: kind === 'agent-card' ? location.clientOrigin + toClientPath(mapPaths(location), '/') : undefined,
  }
}

/** Lines of text for `explain`. */
export function describeA2a({ kind, method, cardBase }: A2aExplanation): string[] {
  if (kind === 'other') return []
  if (kind === 'call') return [`A2A call, method ${method}`]
  return [`A2A agent card; its base URL becomes ${cardBase}`]
}
