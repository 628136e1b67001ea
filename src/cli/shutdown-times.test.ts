import { expect, test } from 'vitest'
import { shutdownTimes } from './shutdown-times.ts'

test.each([
  [{}, 0, 55],
  [{ CONNECTION_MIN_TERMINATION_DEADLINE: '10s' }, 10, 55],
  [{ CONNECTION_MIN_TERMINATION_DEADLINE: '', TERMINATION_GRACE_PERIOD_SECONDS: '' }, 0, 55],
  [{ TERMINATION_GRACE_PERIOD_SECONDS: '11' }, 0, 6],
  [{ TERMINATION_GRACE_PERIOD_SECONDS: '10' }, 0, 9],
  [{ TERMINATION_GRACE_PERIOD_SECONDS: '1' }, 0, 1],
  [{ TERMINATION_GRACE_PERIOD_SECONDS: '0' }, 0, 1],
])('%j waits %i to %i seconds', (environment, minSeconds, maxSeconds) => {
  expect(shutdownTimes(environment)).toEqual({ minMs: 1000 * minSeconds, maxMs: 1000 * maxSeconds })
})

test.each([
  [{ CONNECTION_MIN_TERMINATION_DEADLINE: '10' }, 'CONNECTION_MIN_TERMINATION_DEADLINE is 10; it must be a duration'],
  [
    { TERMINATION_GRACE_PERIOD_SECONDS: '1m' },
    'TERMINATION_GRACE_PERIOD_SECONDS is 1m; it must be a number of seconds',
  ],
])('%j is refused', (environment, message) => {
  expect(() => shutdownTimes(environment)).toThrow(message)
})
