import { readsResponseBody, runResponsePolicies } from '#engine/request/decide.ts'
import { responseTimeout } from '#engine/request/response-timeout.ts'
import type { BodyUse } from '#exchange/body-use.ts'
import type { Refusal } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import { isEventStream } from '#net/http/response-rules.ts'
import type { ClientStream } from '#net/stream.ts'
import type { AnswerFailure } from '#protocols/backend-protocol.ts'
import type { ContentLimit } from './content-wait.ts'
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
  const body = flight.bodies.response
  flight.exchange.response = upstream.head
  // The protocol may make a whole answer of a stream.
  const limit = limitContent(flight, upstream, retryAnswer)
  body.open(upstream)
  const use = body.isJudged || readsResponseBody(flight.decision)
  if (use !== false) return bufferResponse(flight, upstream, { use, limit, retryAnswer })
  const isHeld =
    (flight.retriesLeft > 0 || body.mayRefuse) &&
    body.holdUntilContent(limit, (unread, cut) => {
      const failure = body.failure ?? cut
      if (failure !== undefined && retryAnswer(flight, upstream, failure)) return
      const refusal = unread ?? body.refusal
      if (refusal === undefined) stream(flight, upstream)
      else refuse(flight, upstream, refusal)
    })
  if (!isHeld) stream(flight, upstream)
}

/** The limit for the response head is also that for the first content of a stream, as long as another attempt may replace it. */
function limitContent(flight: InFlight, upstream: ClientStream, retryAnswer: RetryAnswer): ContentLimit | undefined {
  const { exchange, decision, attemptStartMs, context } = flight
  if (flight.retriesLeft === 0 || !isEventStream(exchange.response!)) return undefined
  const endpoint = decision.endpoint!
  const limitMs = responseTimeout(endpoint, exchange)
  if (limitMs === 0) return undefined
  const setting =
    endpoint.requestTimeoutMs > 0 ? 'backend.http.requestTimeout' : 'timeouts.backendRequest of the route rule'
  const detail = `no content within ${limitMs} ms (${setting})`
  return {
    ms: Math.max(0, attemptStartMs + limitMs - context.now()),
    late: () =>
      flight.upstream === upstream &&
      retryAnswer(flight, upstream, { detail, unhealthy: true, status: undefined, cut: undefined }),
  }
}

/** The client gets a refusal instead. A response that has failed counts for the health of its endpoint. */
function refuse(flight: InFlight, upstream: ClientStream, refusal: Refusal): void {
  upstream.cancel()
  if (flight.bodies.response.failure !== undefined) flight.completeAttempt()
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
  const { newResponseBody } = flight.exchange
  const response = flight.bodies.response.outgoing()
  if (newResponseBody === undefined) return sendProcessed(flight, response, upstream)
  const trailers =
    newResponseBody.length > 0 && response.trails === true ? takeGrpcStatus(flight, upstream.head) : undefined
  const body = new ReplacedBody(response, newResponseBody, trailers)
  sendProcessed(flight, body, upstream)
}

interface Buffering {
  readonly use: Exclude<BodyUse, false>
  readonly limit: ContentLimit | undefined
  readonly retryAnswer: RetryAnswer
}

/** Buffers the body: an expression of a response policy reads it (specification 2, 2.1), or its protocol must see all of it. */
function bufferResponse(flight: InFlight, upstream: ClientStream, { use, limit, retryAnswer }: Buffering): void {
  const { exchange } = flight
  const body = flight.bodies.response
  const { maxBufferBytes } = flight.decision.frontend!
  const collected = whenKnown(flight, (unread: Refusal | undefined) => {
    const failure = body.failure ?? body.cutFailure
    if (failure !== undefined && retryAnswer(flight, upstream, failure)) return
    const large = exchange.responseBody.kind === 'large'
    const refused =
      unread ??
      body.refusal ??
      (large && use === true ? refuseLargeBody('response-too-large', maxBufferBytes) : undefined)
    if (refused !== undefined) return refuse(flight, upstream, refused)
    const replaced = runResponsePolicies(flight.exchange, flight.decision)
    if (large && replaced === undefined && exchange.newResponseBody === undefined) return passOn(flight, upstream)
    if (large) upstream.cancel()
    else flight.completeAttempt()
    if (replaced !== undefined) return respondLocally(flight, replaced)
    const { head, trailers } = upstream
    const reply = { head, body: exchange.responseBody.whole, trailers }
    sendProcessed(flight, replyBody(flight, reply), upstream)
  })
  body.collect(maxBufferBytes, use, collected, limit)
}
