import { expect, test } from 'vitest'
import { shutdownVariables } from './shutdown-variables.ts'

test.each([
  [{}, undefined, undefined],
  [{ CONNECTION_MIN_TERMINATION_DEADLINE: '10s' }, 10_000, undefined],
  [{ CONNECTION_MIN_TERMINATION_DEADLINE: '500ms', TERMINATION_GRACE_PERIOD_SECONDS: '0' }, 500, 0],
  [{ CONNECTION_MIN_TERMINATION_DEADLINE: '', TERMINATION_GRACE_PERIOD_SECONDS: '' }, undefined, undefined],
  [{ TERMINATION_GRACE_PERIOD_SECONDS: '30' }, undefined, 30_000],
])('%j says %s and %s ms', (environment, minMs, maxMs) => {
  expect(shutdownVariables(environment)).toEqual({ minMs, maxMs })
})

test.each([
  [{ CONNECTION_MIN_TERMINATION_DEADLINE: '10' }, 'CONNECTION_MIN_TERMINATION_DEADLINE is 10; it must be a duration'],
  [
    { TERMINATION_GRACE_PERIOD_SECONDS: '1m' },
    'TERMINATION_GRACE_PERIOD_SECONDS is 1m; it must be a number of seconds',
  ],
])('%j is refused', (environment, message) => {
  expect(() => shutdownVariables(environment)).toThrow(message)
})
