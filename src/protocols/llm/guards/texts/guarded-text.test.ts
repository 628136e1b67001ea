import { expect, test } from 'vitest'
import { Pace } from '#base/in-slices.ts'
import { replaceMatches } from './guarded-text.ts'

test('many matches are replaced in slices of 512', () => {
  const count = 51_200
  const matches = Array.from({ length: count }, (_, index) => ({ start: 2 * index, end: 2 * index + 1 }))
  const steps = replaceMatches('a '.repeat(count), matches, '<A>', new Pace())
  let yields = 0
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) yields++
  expect(yields).toBe(100)
  expect(step.value === '<A> '.repeat(count)).toBe(true)
})
