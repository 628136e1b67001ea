import { readsResponseBody, runResponsePolicies } from '#engine/decide.ts'
import type { BodyUse } from '#exchange/body-use.ts'
import { reject } from '#exchange/outcome.ts'
import type { Head } from '#net/http/head.ts'
import { BODY_CHUNKED, BODY_LENGTH, BODY_NONE, type BodySource, type ClientStream } from '#net/stream.ts'
import { takeGrpcStatus } from './grpc-trailers.ts'
import type { InFlight } from './in-flight.ts'
import { recordResponse } from './record-bodies.ts'
import { ReplacingSink } from './replacing-sink.ts'
import { fail, respondLocally, sendHead, sendReply, writeQueuedHeaders } from './respond.ts'

/** Passes an upstream response on, through the response policies. Its body streams unless a policy needs it whole. */
export function respondFromUpstream(flight: InFlight, upstream: ClientStream): void {
  flight.exchange.response = upstream.head
  const use = readsResponseBody(flight.decision)
  if (use !== false) return gatherResponse(flight, upstream, use)
  const replaced = runResponsePolicies(flight.exchange, flight.decision)
  if (replaced !== undefined) {
    upstream.cancel()
    return respondLocally(flight, replaced)
  }
  passOn(flight, upstream, upstream.body)
}

function passOn(
  flight: InFlight,
  upstream: ClientStream,
  body: Pick<BodySource, 'kind' | 'length' | 'trails' | 'pipe'>,
): void {
  const { newResponseBody } = flight.exchange
  const filter = flight.decision.answer?.filter(flight.exchange, flight.claim)
  writeQueuedHeaders(flight)
  const hasNewBody = newResponseBody !== undefined && newResponseBody.length > 0
  const trailers = hasNewBody && body.trails === true ? takeGrpcStatus(flight, upstream.head) : undefined
  if (!sendFramed(flight, upstream.head, body, filter?.changesLength === true)) return upstream.cancel()
  flight.filter = filter
  const { response } = flight.stream
  const sink =
    newResponseBody === undefined
      ? recordResponse(flight, response)
      : new ReplacingSink(response, newResponseBody, trailers)
  body.pipe(filter === undefined ? sink : filter.into(sink))
}

/** A filter that adds or removes bytes leaves no length to announce. */
function sendFramed(
  flight: InFlight,
  head: Head,
  { kind, length, trails }: Pick<BodySource, 'kind' | 'length' | 'trails'>,
  changesLength: boolean,
): boolean {
  const { newResponseBody: replacement } = flight.exchange
  if (replacement !== undefined) {
    const bodyless = replacement.length === 0 && trails !== true
    return sendHead(flight, head, bodyless ? BODY_NONE : BODY_LENGTH, replacement.length)
  }
  if (changesLength && kind === BODY_LENGTH) return sendHead(flight, head, BODY_CHUNKED, -1)
  return sendHead(flight, head, kind, length)
}

/** A response-time expression reads the body (specification 2, 2.1): it waits until it is there. */
function gatherResponse(flight: InFlight, upstream: ClientStream, use: Exclude<BodyUse, false>): void {
  const { exchange, turn } = flight
  const { maxBufferBytes } = flight.decision.frontend!
  flight
    .readResponseBody(exchange, maxBufferBytes, use)
    .then((unread) => {
      if (turn !== flight.turn) return
      const large = exchange.responseBody === null
      const refused = unread ?? (large && use === true ? reject('response-too-large') : undefined)
      if (refused !== undefined) {
        upstream.cancel()
        return respondLocally(flight, refused)
      }
      if (!large) flight.decision.answer?.readWhole(exchange)
      const replaced = runResponsePolicies(flight.exchange, flight.decision)
      const streams = large && replaced === undefined && exchange.newResponseBody === undefined
      if (streams) return passOn(flight, upstream, flight.partialResponse!)
      if (large) upstream.cancel()
      if (replaced !== undefined) return respondLocally(flight, replaced)
      const { head, trailers } = upstream
      sendReply(flight, { head, body: exchange.responseBody ?? undefined, trailers })
    })
    .catch((error: unknown) => {
      if (turn === flight.turn) fail(flight, error)
    })
}
