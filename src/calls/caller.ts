import type { Exchange } from '#exchange/exchange.ts'
import { traceParent } from '#exchange/trace-parent.ts'
import { NO_PEER } from '#net/peer.ts'

/** In whose name a call is made, for the backend policies of its destination. */
export interface Caller extends Pick<Exchange, 'peer' | 'names' | 'identity' | 'metadata' | 'gateway' | 'workloads'> {
  /** The trace that its request belongs to, if any. */
  readonly traceparent: string | undefined
}

/** The part of a request that a call needs: a call that ends a session may outlive the request, and must not keep the rest in memory. */
export function captureCaller(exchange: Exchange): Caller {
  const { peer, names, identity, metadata, gateway, workloads, request } = exchange
  return { peer, names, identity: { ...identity }, metadata, gateway, workloads, traceparent: traceParent(request) }
}

/** The gateway itself, when no request has caused the call. */
export const GATEWAY_ITSELF: Caller = {
  peer: NO_PEER,
  names: undefined,
  identity: { jwt: undefined, apiKey: undefined, basicAuth: undefined },
  metadata: undefined,
  gateway: undefined,
  workloads: undefined,
  traceparent: undefined,
}
