import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { EndpointHealth } from '#state/endpoint-health.ts'
import { createSlotMemory } from '#state/slots.ts'
import { judgeHead, recordComplete } from './record-answer.ts'

const EXCHANGE = exchangeWith()
const isServerError = (_: Exchange, status: number) => status >= 500
const never = () => false
const always = () => true

const { monotonic } = clock
beforeEach(() => {
  clock.monotonic = () => 5000
})
afterEach(() => {
  clock.monotonic = monotonic
})

/** The effect of one more complete response on an endpoint with latency 1 s: whether it was healthy, health and latency. */
function after(isUnhealthy: (exchange: Exchange, status: number) => boolean, status: number | undefined) {
  const health = new EndpointHealth(createSlotMemory(1, false), 0, undefined)
  health.recordHealthy(1000)
  const healthy = judgeHead({ health, isUnhealthy }, EXCHANGE, status)
  if (healthy) recordComplete({ health }, status!, 5000)
  return [healthy, health.health, Number((health.health / health.score - 1).toFixed(3))]
}

test.each([
  // condition, status, healthy, health, latency in seconds
  [isServerError, 200, true, 1, 0.7],
  [isServerError, 404, true, 1, 0.7],
  [isServerError, 500, false, 0.7, 1],
  [isServerError, 599, false, 0.7, 1],
  [isServerError, undefined, false, 0.7, 1],
  [never, 200, true, 1, 0.7],
  [never, 499, true, 1, 0.7],
  [never, 500, true, 1, 1],
  [never, 503, true, 1, 1],
  [never, undefined, false, 0.7, 1],
  [always, 200, false, 0.7, 1],
  [always, undefined, false, 0.7, 1],
] as const)('%o, response %s: healthy %s, health %d, latency %d', (isUnhealthy, status, healthy, health, latency) => {
  expect(after(isUnhealthy, status)).toEqual([healthy, health, latency])
})

test('a healthy response counts at its end, with the time since it was sent', () => {
  const health = new EndpointHealth(createSlotMemory(1, false), 0, undefined)
  health.recordUnhealthy(500)
  expect(judgeHead({ health, isUnhealthy: isServerError }, EXCHANGE, 200)).toBe(true)
  expect([health.health, health.score]).toEqual([0.7, 0.7])
  recordComplete({ health }, 200, 3000)
  expect([health.health, (health.health / health.score).toFixed(6)]).toEqual([0.79, '3.000000'])
})
