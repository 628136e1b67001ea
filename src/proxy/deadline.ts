import { reject } from '#exchange/outcome.ts'
import { readGrpcTimeout } from '#net/grpc/status-fields.ts'
import type { Head } from '#net/http/head.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import { WheelTimer } from '#net/timer-wheel.ts'
import type { InFlight } from './in-flight.ts'
import { respondLocally } from './respond.ts'

/**
 * Starts `timeouts.request` (specification 2, 2.2; decision A-92), which ends with the last byte of the response, or the shorter limit that a
 * gRPC client sets for its call (`grpc-timeout`).
 * @param endWork ends what is in flight for the request; called only before the response head
 */
export function startDeadline(flight: InFlight, endWork?: (flight: InFlight) => void): void {
  const { requestTimeoutMs, request } = flight.exchange
  const configuredMs = requestTimeoutMs || Number.POSITIVE_INFINITY
  const clientMs = clientLimit(request)
  const limitMs = Math.min(configuredMs, clientMs)
  if (limitMs === Number.POSITIVE_INFINITY) return
  const isClients = clientMs < configuredMs
  flight.deadline = new WheelTimer(() => {
    flight.clientDeadlinePassed = isClients
    const source = isClients
      ? 'grpc-timeout of the client'
      : 'traffic.timeouts.request, or timeouts.request of the route rule'
    endAtDeadline(flight, `the limit is ${limitMs} ms (${source})`, endWork)
  })
  flight.context.wheel.arm(flight.deadline, limitMs)
}

/** gRPC calls are POST requests; other methods need no check. */
function clientLimit(request: Head): number {
  if (request.method !== 'POST' || !isGrpcRequest(request)) return Number.POSITIVE_INFINITY
  const value = request.get('grpc-timeout')
  return (value === undefined ? undefined : readGrpcTimeout(value)) ?? Number.POSITIVE_INFINITY
}

function endAtDeadline(flight: InFlight, detail: string, endWork?: (flight: InFlight) => void): void {
  const { exchange } = flight
  if (flight.responded) {
    // A client that reads slowly may be the cause, so nothing is recorded for the health of the endpoint.
    exchange.reason = 'Timeout'
    exchange.refusalDetail = 'the request timed out after the response head'
    return flight.stream.abort()
  }
  flight.stopWaiting()
  endWork?.(flight)
  respondLocally(flight, reject('request-timeout', { detail }))
}
