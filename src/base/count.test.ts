import { expect, test } from 'vitest'
import { count } from './count.ts'

test.each([
  [count(0, 'error'), '0 errors'],
  [count(1, 'error'), '1 error'],
  [count(2, 'error'), '2 errors'],
  [count(1, 'entry', 'entries'), '1 entry'],
  [count(3, 'entry', 'entries'), '3 entries'],
])('%s', (text, expected) => {
  expect(text).toBe(expected)
})
