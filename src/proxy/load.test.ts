import { expect, test } from 'vitest'
import { Load } from './load.ts'

test('three retries are always allowed, then a fifth of the requests in flight', () => {
  const load = new Load()
  for (let i = 0; i < 5; i++) load.begin()
  expect([load.takeRetry(), load.takeRetry(), load.takeRetry(), load.takeRetry()]).toEqual([true, true, true, false])
  for (let i = 0; i < 20; i++) load.begin()
  expect([load.takeRetry(), load.takeRetry(), load.takeRetry()]).toEqual([true, true, false])
})

test('a request that ends no longer counts', () => {
  const load = new Load()
  load.begin()
  for (let i = 0; i < 3; i++) load.takeRetry()
  load.end(true)
  expect(load.takeRetry()).toBe(true)
})
