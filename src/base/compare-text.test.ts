import { expect, test } from 'vitest'
import { byKey, compareText } from './compare-text.ts'

test.each([
  ['a', 'b', -1],
  ['b', 'a', 1],
  ['a', 'a', 0],
  ['a', 'ab', -1],
  ['Z', 'a', -1],
  ['z', 'ä', -1],
])('%s and %s: %i', (a, b, expected) => {
  expect([compareText(a, b), byKey({ key: a }, { key: b })]).toEqual([expected, expected])
})
