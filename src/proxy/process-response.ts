import { processesResponse, processResponse } from '#engine/request/decide.ts'
import type { Outcome } from '#exchange/outcome.ts'
import type { SendableBody } from '#net/stream.ts'
import type { InFlight } from './in-flight.ts'
import { respondLocally, sendBody, whenSettled } from './respond.ts'

/**
 * Sends the response of a backend after the policies that process it together with its body. They run after all response policies, and not for
 * responses of the gateway itself.
 * @param giveUp ends the source of the body, which is not sent
 */
export function sendProcessed(flight: InFlight, body: SendableBody, giveUp: () => void): void {
  const { exchange, decision, bodies } = flight
  bodies.offerResponse(body)
  const outcome = processesResponse(decision) ? processResponse(exchange, decision) : undefined
  if (outcome instanceof Promise) whenSettled(flight, outcome, (settled) => send(flight, settled, giveUp))
  else send(flight, outcome, giveUp)
}

function send(flight: InFlight, outcome: Outcome, giveUp: () => void): void {
  if (outcome === undefined && sendBody(flight, flight.exchange.response!, flight.bodies.response)) return
  giveUp()
  if (outcome !== undefined) respondLocally(flight, outcome)
}
