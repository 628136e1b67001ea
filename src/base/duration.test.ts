import { expect, test } from 'vitest'
import { parseDuration } from './duration.ts'

test.each([
  ['3s', 3000],
  ['5m', 300_000],
  ['1h30m', 5_400_000],
  ['100ms', 100],
  ['1h1m1s1ms', 3_661_001],
  ['0s', 0],
  ['', undefined],
  ['5', undefined],
  ['-5s', undefined],
  ['1.5s', undefined],
  ['5 s', undefined],
  ['100000s', undefined],
  ['1s1s1s1s1s', undefined],
  ['5us', undefined],
])('parseDuration(%j) is %s ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})
