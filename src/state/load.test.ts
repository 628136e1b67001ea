import { expect, test } from 'vitest'
import { createLoadMemory, Load } from './load.ts'

const METRIC = { add: () => {} }

/** The loads of workers with so many requests in flight. */
function loadsOf(...requests: readonly number[]): Load[] {
  const memory = createLoadMemory(requests.length)
  return requests.map((count, place) => {
    const load = new Load(METRIC, memory, place)
    for (let i = 0; i < count; i++) load.begin()
    return load
  })
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
  [19, 3],
  [20, 4],
  [25, 5],
])('of %i requests in flight %i may be retries', (requests, retries) => {
  expect(takeAll(loadsOf(requests)[0]!)).toBe(retries)
})

test('a request that ends no longer counts', () => {
  const [load] = loadsOf(25)
  for (let i = 0; i < 5; i++) load!.end(false)
  expect(takeAll(load!)).toBe(4)
  load!.end(true)
  expect(takeAll(load!)).toBe(0)
  load!.begin()
  expect(takeAll(load!)).toBe(1)
})

test.each([
  [
    [0, 0],
    [3, 0],
  ],
  [
    [5, 5],
    [3, 0],
  ],
  [
    [40, 0],
    [8, 0],
  ],
  [
    [0, 40],
    [8, 0],
  ],
  [
    [10, 10, 20],
    [8, 0, 0],
  ],
])('workers with %j requests in flight share one limit: they take %j retries', (requests, retries) => {
  expect(loadsOf(...requests).map(takeAll)).toEqual(retries)
})

test('a retry that ends in one worker can be taken in another one', () => {
  const [one, other] = loadsOf(5, 5)
  expect(takeAll(one!)).toBe(3)
  one!.end(true)
  expect(takeAll(other!)).toBe(1)
})

test('what a worker had in flight when it died does not count', () => {
  const memory = createLoadMemory(2)
  const other = new Load(METRIC, memory, 0)
  const died = new Load(METRIC, memory, 1)
  for (let i = 0; i < 40; i++) died.begin()
  expect(takeAll(died)).toBe(8)
  new Load(METRIC, memory, 1)
  expect(takeAll(other)).toBe(3)
})
