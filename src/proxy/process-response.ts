import { processesResponse, processResponse } from '#engine/request/decide.ts'
import type { Outcome } from '#exchange/outcome.ts'
import type { SendableBody } from '#net/stream.ts'
import type { InFlight } from './in-flight.ts'
import { respondLocally, sendBody, whenSettled } from './respond.ts'

/** What a body comes from. */
export interface Source {
  cancel(): void
}

/**
 * Sends the response of a backend after the policies that process it together with its body. They run after all response policies, and not for
 * responses of the gateway itself.
 * @param source of the body, cancelled if it is not sent
 */
export function sendProcessed(flight: InFlight, body: SendableBody, source: Source): void {
  flight.bodies.response.offer(body)
  if (processesResponse(flight.decision)) process(flight, source)
  else send(flight, undefined, source)
}

function process(flight: InFlight, source: Source): void {
  const outcome = processResponse(flight.exchange, flight.decision)
  if (outcome instanceof Promise) whenSettled(flight, outcome, (settled) => send(flight, settled, source))
  else send(flight, outcome, source)
}

function send(flight: InFlight, outcome: Outcome, source: Source): void {
  if (outcome === undefined && sendBody(flight, flight.exchange.response!, flight.bodies.response.outgoing())) return
  source.cancel()
  if (outcome !== undefined) respondLocally(flight, outcome)
}
