import { expect, test } from 'vitest'
import { includesBytes } from './includes-bytes.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

test.each([
  ['abc', 'a', true],
  ['abc', 'c', true],
  ['abc', 'bc', true],
  ['aab', 'ab', true],
  ['abc', 'abc', true],
  ['abc', 'abcd', false],
  ['abab', 'abb', false],
  ['', 'a', false],
])('%s contains %s: %s', (text, pattern, contains) => {
  expect(includesBytes(bytes(text), bytes(pattern))).toBe(contains)
})
