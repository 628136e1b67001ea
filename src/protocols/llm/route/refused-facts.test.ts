import { expect, test } from 'vitest'
import { exchangeWith } from '#policies/shared/testing.ts'
import { refusedFacts } from './refused-facts.ts'

test.each([
  ['Realtime', '/v1/realtime?model=m', undefined, 'm'],
  ['Realtime', '/v1/realtime?model=m&model=n', undefined, ''],
  ['Completions', '/chat', '{"model":"m"}', 'm'],
  ['Completions', '/chat', 'no JSON', ''],
] as const)('the model of a refused request of type %s to %s with body %j is %j', (type, target, body, model) => {
  const exchange = exchangeWith({ target, ...(body !== undefined && { method: 'POST', body }) })
  expect(refusedFacts(type, undefined, exchange)?.requestModel).toBe(model)
})
