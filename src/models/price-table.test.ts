import { expect, test } from 'vitest'
import { pricesAt } from './price-table.ts'

test.each([
  ['00:59:59.999', 1],
  ['01:00:00', 2],
  ['01:59:59.999', 2],
  ['02:00:00', 1],
])('at %s the price is %i', (time, price) => {
  const times = [{ prices: { input: 1 } }, { daily: [3600, 7200] as const, prices: { input: 2 } }]
  expect(pricesAt({ match: { equals: 'm' }, times }, Date.parse(`2026-12-01T${time}Z`))).toEqual({ input: price })
})

test('before the first date of a price, the first one listed holds', () => {
  const times = [{ fromMs: 100, prices: { input: 1 } }]
  expect(pricesAt({ match: { equals: 'm' }, times }, 99)).toEqual({ input: 1 })
})
