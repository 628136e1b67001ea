import { clock } from '#base/clock.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import { Head } from '#net/http/head.ts'
import type { SendableBody } from '#net/stream.ts'
import type { InFlight } from './in-flight.ts'

/** As long as most clients wait themselves before they send the body. */
const PATIENCE_MS = 1000

/**
 * Passes `Expect: 100-continue` on with a body that streams, so that its backend can refuse it before it is sent (RFC 9110, 10.1.1). A
 * backend that knows no expectations would wait for the body, so the client gets 100 after a time.
 */
export function passExpectation(flight: InFlight, body: SendableBody): void {
  const { stream } = flight
  const { request } = flight.exchange
  if (!request.expectsContinue) return
  request.expectsContinue = !(body instanceof FixedBody) && stream.passExpectation()
  if (!request.expectsContinue) return request.remove('expect')
  request.set('expect', '100-continue')
  clock.after(PATIENCE_MS, () => {
    if (flight.isWaiting) stream.inform(Head.response(100))
  })
}
