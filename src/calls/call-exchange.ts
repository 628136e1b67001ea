import { clock } from '#base/clock.ts'
import type { LiveEndpoint } from '#engine/backend/live-backend.ts'
import type { CallPurpose, CallRequest } from '#exchange/call.ts'
import { Exchange } from '#exchange/exchange.ts'
import { LARGE_BODY, wholeBody } from '#exchange/known-body.ts'
import { grpcTimeout } from '#net/grpc/status-fields.ts'
import { Head } from '#net/http/head.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import { CallContext } from './call-context.ts'
import type { CallWay } from './call-way.ts'

/** The exchange of a call, as the backend policies of its destination see it. @param deadlineMs undefined: it has none */
export function callExchange(way: CallWay, request: CallRequest, deadlineMs: number | undefined): Exchange {
  const { endpoint, caller, random, call } = way
  const { purpose, method, path, host, headers, body, signal, protocol, isRepeatable } = request
  const head = Head.request(method, path)
  head.set('host', hostFor(endpoint, host))
  for (const [name, value] of headers) if (name !== 'host') head.append(name, value)
  passTrace(head, purpose, way)
  if (protocol === 'grpc') prepareGrpc(head, deadlineMs)
  head.takesTrailers ||= isGrpcRequest(head)
  head.isRepeatable = isRepeatable === true
  const exchange = new Exchange(head, caller.peer)
  exchange.context = new CallContext(call, signal, random)
  exchange.startMonotonicMs = clock.monotonic()
  exchange.names = caller.names
  exchange.gateway = caller.gateway
  exchange.workloads = caller.workloads
  Object.assign(exchange.identity, caller.identity)
  exchange.metadata = caller.metadata
  exchange.requestBody = body === undefined || body instanceof Uint8Array ? wholeBody(body) : LARGE_BODY
  return exchange
}

/** Passes the trace of the request on that caused the call. Copies of requests have its fields already. */
function passTrace(head: Head, purpose: CallPurpose, { caller, span }: CallWay): void {
  const { traceparent, tracestate, baggage } = caller
  if (traceparent !== undefined && !head.has('traceparent')) {
    head.set('traceparent', traceparent)
    if (tracestate !== undefined) head.set('tracestate', tracestate)
  }
  // Servers that a policy asks are not part of what the client does.
  if (purpose === 'mcp' && baggage !== undefined && !head.has('baggage')) head.set('baggage', baggage)
  if (span !== undefined && head.joined('traceparent') === span.of.header) head.set('traceparent', span.header)
}

/** A forwarded host is rewritten as for other forwarded requests (specification 2, 2.2.4). */
function hostFor({ hostname, label, rewritesHost }: LiveEndpoint, forwarded: string | undefined): string {
  if (forwarded !== undefined && !rewritesHost) return forwarded
  return hostname ?? forwarded ?? label
}

/** The fields of every gRPC request (gRPC over HTTP/2, "Requests"). */
function prepareGrpc(head: Head, deadlineMs: number | undefined): void {
  head.set('content-type', 'application/grpc')
  if (deadlineMs !== undefined) head.set('grpc-timeout', grpcTimeout(deadlineMs))
}
