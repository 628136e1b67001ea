import { expect, test } from 'vitest'
import { shortDuration } from './short-duration.ts'

test.each([
  [-1, '0 s'],
  [999, '0 s'],
  [12_900, '12 s'],
  [185_000, '3 min 5 s'],
  [180_000, '3 min'],
  [7_805_000, '2 h 10 min'],
  [3_605_000, '1 h'],
  [26 * 3_600_000, '1 d 2 h'],
])('%d ms is %s', (ms, text) => {
  expect(shortDuration(ms)).toBe(text)
})
