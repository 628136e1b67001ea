import { type Decision, isHeadField } from '#engine/request/decide.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Head } from '#net/http/head.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import type { TrailerGate } from '#net/stream.ts'

/**
 * Fields of a head that policies have to do with do not come by another way (docs/behaviour/http.md, "Trailers and interim
 * responses"). Takes them out of an interim response.
 */
export function screenInterim(decision: Decision, head: Head): void {
  for (let at = 0; at < head.received; at++) if (isHeadField('response', head.receivedName(at), decision)) head.drop(at)
}

/** The same for the fields behind a response body, which go to clients of gRPC and those that announced to take them. */
export function screenTrailers(decision: Decision, exchange: Exchange, trailers: Head): void {
  const taken = exchange.request.takesTrailers || isGrpcRequest(exchange.request)
  for (let at = 0; at < trailers.received; at++) {
    if (!taken || !mayFollow('response', trailers.receivedName(at), decision)) trailers.drop(at)
  }
}

/** The same for the fields behind a request body. */
export class RequestTrailerGate implements TrailerGate {
  readonly #decision: Decision

  constructor(decision: Decision) {
    this.#decision = decision
  }

  admits(lowerName: string): boolean {
    return mayFollow('request', lowerName, this.#decision)
  }
}

/** A call of gRPC has ended when its status has come: no policy takes that away. */
function mayFollow(message: 'request' | 'response', name: string, decision: Decision): boolean {
  return name === 'grpc-status' || !isHeadField(message, name, decision)
}
