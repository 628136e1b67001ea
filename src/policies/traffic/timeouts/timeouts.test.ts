import { expect, test } from 'vitest'
import type { PlanNames } from '#exchange/exchange.ts'
import { verifies } from '#test/support/verifies.ts'
import { contextWith, exchangeWith, sourceOf } from '../../shared/testing.ts'
import { timeouts } from './index.ts'

const NAMES: PlanNames = {
  gateway: 'default/main',
  listener: 'http',
  route: 'default/r',
  routeKind: 'HTTPRoute',
  rule: '',
  backend: '',
  backendType: '',
  protocol: 'http',
}

function timeoutOn(routeKind: string, request: string): number | undefined {
  const exchange = exchangeWith()
  exchange.names = { ...NAMES, routeKind }
  timeouts.compile([sourceOf({ request })], contextWith())?.request?.(exchange)
  return exchange.requestTimeoutMs
}

verifies('traffic.timeouts/http-route', 'the timeout of an HTTPRoute is recorded', () => {
  expect(timeoutOn('HTTPRoute', '1m30s')).toBe(90_000)
  expect(timeoutOn('HTTPRoute', '0s')).toBe(0)
})

verifies('traffic.timeouts/other-kinds-ignored', 'a GRPCRoute has no timeout, and the policy reports that', () => {
  expect(timeoutOn('GRPCRoute', '1s')).toBeUndefined()
  const context = contextWith()
  const source = sourceOf({ request: '1s' }, { target: 'GRPCRoute/default/r' })
  expect(timeouts.compile([source], context)).toBeUndefined()
  expect(context.reports).toEqual(['no-effect spec.traffic.field.request'])
})

test.each([
  ['1500ms', 1500],
  ['0s', 0],
])('a timeout of %s for each attempt, which a route rule may have, is recorded', (backendRequest, expectedMs) => {
  const context = contextWith()
  const exchange = exchangeWith()
  timeouts.compile([sourceOf({ backendRequest } as object)], context)?.request?.(exchange)
  expect([exchange.requestTimeoutMs, exchange.attemptTimeoutMs]).toEqual([undefined, expectedMs])
  expect(context.reports).toEqual([])
})
