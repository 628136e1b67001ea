import { expect, test } from 'vitest'
import { handClock } from '#net/testing/hand-clock.ts'
import { TimerWheel } from '#net/timer-wheel.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { startDeadline } from './deadline.ts'
import type { InFlight } from './in-flight.ts'

const time = handClock()
const GRPC = 'application/grpc'

/** When the time of a request is up, and whether its client set the limit; the response has begun, so that the end resets its stream. */
function endOf(headers: Readonly<Record<string, string>>, requestTimeoutMs?: number) {
  const wheel = new TimerWheel()
  const exchange = exchangeWith({ method: 'POST', headers })
  exchange.requestTimeoutMs = requestTimeoutMs
  let ended = false
  const stream = {
    abort: () => {
      ended = true
    },
  }
  const flight = { exchange, stream, responded: true, clientDeadlinePassed: false, context: { wheel } }
  startDeadline(flight as unknown as InFlight)
  for (let ms = 0; ms < 10_000; ms += 1000) {
    time.pass(wheel, 1000)
    if (ended) return [ms + 1000, flight.clientDeadlinePassed ? 'client' : 'configuration']
  }
  return 'never'
}

test.each<[what: string, fields: Readonly<Record<string, string>>, requestTimeoutMs: number | undefined, end: unknown]>(
  [
    ['no limit', { 'content-type': GRPC }, undefined, 'never'],
    ['the limit of the client', { 'content-type': GRPC, 'grpc-timeout': '2500m' }, undefined, 'client'],
    ['the shorter limit of the client', { 'content-type': GRPC, 'grpc-timeout': '2500m' }, 5500, 'client'],
    ['a shorter limit', { 'content-type': GRPC, 'grpc-timeout': '5500m' }, 2500, 'configuration'],
    ['a limit that is off', { 'content-type': GRPC, 'grpc-timeout': '2500m' }, 0, 'client'],
    ['a malformed limit', { 'content-type': GRPC, 'grpc-timeout': 'soon' }, undefined, 'never'],
    ['another type', { 'content-type': 'text/plain', 'grpc-timeout': '2500m' }, undefined, 'never'],
  ],
)('a request with %s', (_, fields, requestTimeoutMs, end) => {
  expect(endOf(fields, requestTimeoutMs)).toEqual(end === 'never' ? end : [3000, end])
})
