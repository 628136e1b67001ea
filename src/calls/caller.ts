import type { Exchange } from '#exchange/exchange.ts'
import type { RequestCalls } from '#exchange/request-calls.ts'
import type { RequestSpan } from '#exchange/request-span.ts'
import { traceParent } from '#exchange/trace-parent.ts'
import { NO_PEER } from '#net/peer.ts'

/** In whose name a call is made, for the backend policies of its destination. */
export interface Caller extends Pick<Exchange, 'peer' | 'names' | 'identity' | 'metadata' | 'gateway' | 'workloads'> {
  /** The trace that its request belongs to, if any. */
  readonly traceparent: string | undefined
  /** What belongs to that trace; undefined without a trace. */
  readonly tracestate: string | undefined
  /** What its sender tells all servers that take part (W3C Baggage). */
  readonly baggage: string | undefined
  /** Set if the request has custom labels of metrics. */
  readonly calls: RequestCalls | undefined
  /** Set if the request is traced. */
  readonly span: RequestSpan | undefined
}

/** The part of a request that a call needs: a call that ends a session may outlive the request, and must not keep the rest in memory. */
export function captureCaller(exchange: Exchange): Caller {
  const { peer, names, identity, metadata, gateway, workloads, request, calls, span } = exchange
  // During an attempt the request has the header of the attempt.
  const traceparent = span?.header ?? traceParent(request)
  const tracestate = traceparent && request.joined('tracestate')
  const baggage = request.joined('baggage')
  const ofClient = { peer, names, identity: { ...identity }, metadata, gateway, workloads }
  return { ...ofClient, traceparent, tracestate, baggage, calls, span }
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
  tracestate: undefined,
  baggage: undefined,
  calls: undefined,
  span: undefined,
}
