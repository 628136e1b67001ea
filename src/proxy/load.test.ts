import { expect, test } from 'vitest'
import { Load } from './load.ts'

function loadOf(requests: number): Load {
  const load = new Load({ add: () => {} })
  for (let i = 0; i < requests; i++) load.begin()
  return load
}

/** Counts retries until no more are allowed. */
function takeAll(load: Load): number {
  let taken = 0
  while (load.takeRetry()) taken++
  return taken
}

test.each([
  [0, 3],
  [5, 3],
  [15, 3],
  [20, 4],
  [25, 5],
])('of %i requests in flight %i may be retries', (requests, retries) => {
  expect(takeAll(loadOf(requests))).toBe(retries)
})

test('a request that ends no longer counts', () => {
  const load = loadOf(25)
  for (let i = 0; i < 5; i++) load.end(false)
  expect(takeAll(load)).toBe(4)
  load.end(false)
  load.end(true)
  expect(takeAll(load)).toBe(1)
})
