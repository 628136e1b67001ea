import { RecordingSink } from '#net/body/recording-sink.ts'
import type { BodySink } from '#net/stream.ts'
import { BODY_NONE } from '#net/stream.ts'
import type { InFlight } from './in-flight.ts'

/*
 * Bodies for expressions of log and metrics (specification 2, 2.1; decision A-49). Nothing is buffered for them: while a body streams,
 * its beginning is copied on the way; what the gateway has anyway is used as it is. Where no expression asks, nothing happens.
 */

const EMPTY = new Uint8Array(0)

/** Where the request body goes: to the backend, past a recording if one is wanted. */
export function recordRequest(flight: InFlight, sink: BodySink): BodySink {
  const { recordsRequestBody, maxBufferBytes } = flight.decision.frontend!
  if (!recordsRequestBody) return sink
  flight.requestRecording = new RecordingSink(sink, { maxBytes: maxBufferBytes, claim: flight.claim })
  return flight.requestRecording
}

/** Where the response body goes: to the client. Behind all filters, so that what is recorded is what the client gets. */
export function recordResponse(flight: InFlight, sink: BodySink): BodySink {
  const { recordsResponseBody, maxBufferBytes } = flight.decision.frontend!
  if (!recordsResponseBody) return sink
  flight.responseRecording = new RecordingSink(sink, { maxBytes: maxBufferBytes, claim: flight.claim })
  return flight.responseRecording
}

/** After the end, and before anything is logged: what is known of the bodies stands for them. null: nothing of it was read. */
export function settleBodies(flight: InFlight): void {
  const { exchange, decision } = flight
  if (decision.frontend?.recordsRequestBody) {
    const known = exchange.requestBodyPrefix ?? flight.requestRecording?.recorded
    exchange.requestBody ??= known ?? (flight.stream.body.kind === BODY_NONE ? EMPTY : null)
  }
  if (decision.frontend?.recordsResponseBody) {
    exchange.responseBody ??= exchange.responseBodyPrefix ?? flight.responseRecording?.recorded ?? null
  }
}
