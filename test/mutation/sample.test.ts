import { expect, test } from 'vitest'
import { sample } from './sample.ts'

const HUNDRED = Array.from({ length: 100 }, (_, i) => i)

test.each([0, 1, 30, 100])('a sample of %i', (size) => {
  expect(sample(HUNDRED, size, 1)).toHaveLength(size)
})

test('a sample keeps the order, and is the same for the same seed', () => {
  const taken = sample(HUNDRED, 30, 7)
  expect(taken).toEqual(taken.toSorted((a, b) => a - b))
  expect(sample(HUNDRED, 30, 7)).toEqual(taken)
  expect(sample(HUNDRED, 30, 8)).not.toEqual(taken)
})

test('a sample of more than there is', () => {
  expect(sample(HUNDRED, 1000, 1)).toEqual(HUNDRED)
})
