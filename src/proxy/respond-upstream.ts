import { readsResponseBody, runResponsePolicies } from '#engine/request/decide.ts'
import type { BodyUse } from '#exchange/body-use.ts'
import type { Refusal } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import type { ClientStream } from '#net/stream.ts'
import type { AnswerFailure } from '#protocols/backend-protocol.ts'
import { takeGrpcStatus } from './grpc-trailers.ts'
import type { InFlight } from './in-flight.ts'
import { sendProcessed } from './process-response.ts'
import { ReplacedBody } from './replaced-body.ts'
import { replyBody, respondLocally, whenKnown } from './respond.ts'

/** Tries another attempt for a response that failed before anything of it was sent. @returns whether there is one */
export type RetryAnswer = (flight: InFlight, upstream: ClientStream, failure: AnswerFailure) => boolean

/**
 * Forwards an upstream response through the response policies. Its body streams unless a policy reads it. As long as attempts are left, or if
 * it may become a refusal, it begins with its first content, so that an answer that fails before can be replaced.
 */
export function respondFromUpstream(flight: InFlight, upstream: ClientStream, retryAnswer: RetryAnswer): void {
  const { bodies } = flight
  flight.exchange.response = upstream.head
  bodies.openResponse(upstream)
  const use = bodies.responseIsJudged || readsResponseBody(flight.decision)
  if (use !== false) return bufferResponse(flight, upstream, use, retryAnswer)
  const isHeld =
    (flight.retriesLeft > 0 || bodies.responseMayRefuse) &&
    bodies.holdResponse((unread, cut) => {
      const failure = bodies.responseFailure ?? cut
      if (failure !== undefined && retryAnswer(flight, upstream, failure)) return
      const refusal = unread ?? bodies.responseRefusal
      if (refusal === undefined) stream(flight, upstream)
      else refuse(flight, upstream, refusal)
    })
  if (!isHeld) stream(flight, upstream)
}

/** The client gets a refusal instead. A response that has failed counts for the health of its endpoint. */
function refuse(flight: InFlight, upstream: ClientStream, refusal: Refusal): void {
  upstream.cancel()
  if (flight.bodies.responseFailure !== undefined) flight.completeAttempt()
  respondLocally(flight, refusal)
}

function stream(flight: InFlight, upstream: ClientStream): void {
  const replaced = runResponsePolicies(flight.exchange, flight.decision)
  if (replaced !== undefined) {
    upstream.cancel()
    return respondLocally(flight, replaced)
  }
  passOn(flight, upstream)
}

function passOn(flight: InFlight, upstream: ClientStream): void {
  const { bodies, exchange } = flight
  const { newResponseBody } = exchange
  const { response } = bodies
  if (newResponseBody === undefined) return sendProcessed(flight, response, upstream)
  const trailers =
    newResponseBody.length > 0 && response.trails === true ? takeGrpcStatus(flight, upstream.head) : undefined
  const body = new ReplacedBody(response, newResponseBody, trailers)
  sendProcessed(flight, body, upstream)
}

/** Buffers the body: an expression of a response policy reads it (specification 2, 2.1), or its protocol must see all of it. */
function bufferResponse(
  flight: InFlight,
  upstream: ClientStream,
  use: Exclude<BodyUse, false>,
  retryAnswer: RetryAnswer,
): void {
  const { exchange, bodies } = flight
  const { maxBufferBytes } = flight.decision.frontend!
  const collected = whenKnown(flight, (unread: Refusal | undefined) => {
    const failure = bodies.responseFailure ?? bodies.cutFailure
    if (failure !== undefined && retryAnswer(flight, upstream, failure)) return
    const large = exchange.responseBody === null
    const refused =
      unread ??
      bodies.responseRefusal ??
      (large && use === true ? refuseLargeBody('response-too-large', maxBufferBytes) : undefined)
    if (refused !== undefined) return refuse(flight, upstream, refused)
    const replaced = runResponsePolicies(flight.exchange, flight.decision)
    if (large && replaced === undefined && exchange.newResponseBody === undefined) return passOn(flight, upstream)
    if (large) upstream.cancel()
    else flight.completeAttempt()
    if (replaced !== undefined) return respondLocally(flight, replaced)
    const { head, trailers } = upstream
    const body = replyBody(flight, { head, body: exchange.responseBody ?? undefined, trailers })
    sendProcessed(flight, body, upstream)
  })
  bodies.collectResponseBody(exchange, maxBufferBytes, use, collected)
}
