import { reject } from '#exchange/outcome.ts'
import { WheelTimer } from '#net/timer-wheel.ts'
import type { InFlight } from './in-flight.ts'
import { respondLocally } from './respond.ts'

/**
 * Starts `timeouts.request` (specification 2, 2.2; decision A-92), which ends with the last byte of the response.
 * @param endWork ends what is in flight for the request; called only before the response head
 */
export function startDeadline(flight: InFlight, endWork?: (flight: InFlight) => void): void {
  const { requestTimeoutMs } = flight.exchange
  if (requestTimeoutMs === undefined || requestTimeoutMs === 0) return
  flight.deadline = new WheelTimer(() => endAtDeadline(flight, endWork))
  flight.context.wheel.arm(flight.deadline, requestTimeoutMs)
}

function endAtDeadline(flight: InFlight, endWork?: (flight: InFlight) => void): void {
  const { exchange } = flight
  if (flight.responded) {
    // A client that reads slowly may be the cause, so nothing is recorded for the health of the endpoint.
    exchange.reason = 'Timeout'
    exchange.refusalDetail = 'the request timed out after the response head'
    return flight.stream.abort()
  }
  flight.stopWaiting()
  endWork?.(flight)
  const detail = `the limit is ${exchange.requestTimeoutMs} ms (traffic.timeouts.request, or timeouts.request of the route rule)`
  respondLocally(flight, reject('request-timeout', { detail }))
}
