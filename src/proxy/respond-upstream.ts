import { reject } from '#exchange/outcome.ts'
import type { ClientStream } from '#net/stream.ts'
import { observeLlmResponse } from './forward-llm.ts'
import type { InFlight } from './in-flight.ts'
import { fail, respondLocally, runResponsePolicies, sendReply, writeQueuedHeaders } from './respond.ts'

/** Passes an upstream response on, through the response policies. Its body streams unless a policy needs it whole. */
export function respondFromUpstream(flight: InFlight, upstream: ClientStream): void {
  flight.exchange.response = upstream.head
  if (readsResponseBody(flight)) return gatherResponse(flight, upstream)
  const replaced = runResponsePolicies(flight)
  if (replaced !== undefined) {
    upstream.cancel()
    return respondLocally(flight, replaced)
  }
  const { kind, length } = upstream.body
  const filter = flight.backend.item.type === 'ai' ? observeLlmResponse(flight, upstream) : undefined
  writeQueuedHeaders(flight)
  flight.status = upstream.head.status
  flight.responded = true
  if (filter === undefined) {
    flight.stream.respond(upstream.head, kind, length)
    upstream.body.pipe(flight.stream.response)
  } else {
    flight.stream.respond(upstream.head, kind, filter.keepsLength ? length : -1)
    filter.pipe(upstream.body, flight.stream.response)
  }
}

function readsResponseBody(flight: InFlight): boolean {
  const { decision, endpoint } = flight
  return (
    decision.postRouting?.readsResponseBody === true ||
    decision.preRouting?.readsResponseBody === true ||
    endpoint?.chain.readsResponseBody === true
  )
}

/** A response-time expression reads the body (data plane, 7.5): it waits until it is there. */
function gatherResponse(flight: InFlight, upstream: ClientStream): void {
  const { exchange, turn } = flight
  const { maxBufferBytes } = flight.decision.listener!.frontend.get(flight.context.index)
  flight
    .readResponseBody(exchange, maxBufferBytes)
    .then(() => {
      if (turn !== flight.turn) return
      if (exchange.responseBody === null) return respondLocally(flight, reject('response-too-large'))
      const replaced = runResponsePolicies(flight)
      if (replaced !== undefined) return respondLocally(flight, replaced)
      sendReply(flight, { head: upstream.head, body: exchange.responseBody })
    })
    .catch((error: unknown) => {
      if (turn !== flight.turn) return
      if (flight.upstream === upstream) respondLocally(flight, reject('upstream-failed', { detail: String(error) }))
      else fail(flight, error)
    })
}
