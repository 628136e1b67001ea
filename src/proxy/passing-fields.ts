import { type Decision, isHeadField } from '#engine/request/decide.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Head } from '#net/http/head.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import type { TrailerGate } from '#net/stream.ts'

/** Removes fields that policies read or write from an interim response (docs/behaviour/http.md, "Trailers and interim responses"). */
export function screenInterim(decision: Decision, head: Head): void {
  for (let at = 0; at < head.received; at++) if (isHeadField('response', head.receivedName(at), decision)) head.drop(at)
}

/** Removes such fields from response trailers. All trailers are removed for clients that neither use gRPC nor accept trailers. */
export function screenTrailers(decision: Decision, exchange: Exchange, trailers: Head): void {
  const taken = exchange.request.takesTrailers || isGrpcRequest(exchange.request)
  for (let at = 0; at < trailers.received; at++) {
    if (!taken || !mayFollow('response', trailers.receivedName(at), decision)) trailers.drop(at)
  }
}

/** Removes such fields from request trailers. */
export class RequestTrailerGate implements TrailerGate {
  readonly #decision: Decision

  constructor(decision: Decision) {
    this.#decision = decision
  }

  admits(lowerName: string): boolean {
    return mayFollow('request', lowerName, this.#decision)
  }
}

/** `grpc-status` is always forwarded: it ends a gRPC call. */
function mayFollow(message: 'request' | 'response', name: string, decision: Decision): boolean {
  return name === 'grpc-status' || !isHeadField(message, name, decision)
}
