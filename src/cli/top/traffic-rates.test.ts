import { expect, test } from 'vitest'
import type { TrafficReport } from '#admin/traffic-report.ts'
import { trafficRates } from './traffic-rates.ts'

const row = (name: string, requests: number, errors: number, buckets: readonly number[]) => ({
  name,
  requests,
  errors,
  clientErrors: 0,
  seconds: 1,
  buckets,
})
const report = (seconds: number, routes: TrafficReport['routes'], startTime = 'a'): TrafficReport => ({
  time: '2026-01-31T12:30:15.123Z',
  startTime,
  uptimeSeconds: seconds,
  inFlight: 3,
  bounds: [0.01, 0.1, 1],
  routes,
  backends: [],
})

test('rates are those of the time between two reports', () => {
  const before = report(10, [row('a', 100, 10, [100, 0, 0, 0]), row('idle', 5, 0, [5, 0, 0, 0])])
  const after = report(12, [
    row('a', 110, 15, [100, 10, 0, 0]),
    row('idle', 5, 0, [5, 0, 0, 0]),
    row('new', 40, 0, [20, 19, 0, 1]),
  ])
  const { seconds, inFlight, routes } = trafficRates([{ before, after }])!
  expect([seconds, inFlight]).toEqual([2, 3])
  expect(routes).toEqual([
    { name: 'new', perSecond: 20, errorRatio: 0, clientErrorRatio: 0, p50Ms: 10, p99Ms: 1000 },
    { name: 'a', perSecond: 5, errorRatio: 0.5, clientErrorRatio: 0, p50Ms: 55, p99Ms: 99.1 },
    { name: 'idle', perSecond: 0, errorRatio: 0, clientErrorRatio: 0, p50Ms: undefined, p99Ms: undefined },
  ])
})

test('reports of a gateway before and after a restart have no rates between them', () => {
  const before = report(10, [row('a', 5, 0, [5, 0, 0, 0])])
  expect(trafficRates([{ before, after: report(1, [row('a', 400, 1, [400, 0, 0, 0])], 'b') }])).toBeUndefined()
})

test('two reports of the same time have finite rates', () => {
  const one = report(10, [row('a', 1, 0, [1, 0, 0, 0])])
  expect(trafficRates([{ before: one, after: one }])?.routes).toMatchObject([{ perSecond: 0 }])
})

test('pods together: rates are added, and ratios and durations are those of all requests', () => {
  const quick = { before: report(10, []), after: report(12, [row('a', 20, 10, [20, 0, 0, 0])]) }
  const slow = { before: report(70, []), after: report(74, [row('a', 20, 0, [0, 0, 20, 0])]) }
  const restarted = { before: report(1, [], 'a'), after: report(1, [row('a', 9, 9, [9, 0, 0, 0])], 'b') }
  expect(trafficRates([quick, slow, restarted])).toMatchObject({
    inFlight: 6,
    routes: [{ name: 'a', perSecond: 15, errorRatio: 0.25, p50Ms: 10, p99Ms: 982 }],
  })
})
