import { expect, test } from 'vitest'
import { BytePattern } from './byte-pattern.ts'

test.each([
  ['abc', 'a', true],
  ['abc', 'c', true],
  ['abc', 'bc', true],
  ['aab', 'ab', true],
  ['abc', 'abc', true],
  ['abc', 'abcd', false],
  ['abab', 'abb', false],
  ['abababb', 'abb', true],
  ['aaaaab', 'aab', true],
  ['caab', 'aaab', false],
  ['xx"error"', '"error"', true],
  ['x"erro"r"', '"error"', false],
  ['ä€', '€', true],
  ['', 'a', false],
])('%s contains %s: %s', (text, pattern, contains) => {
  expect(new BytePattern(pattern).isIn(new TextEncoder().encode(text))).toBe(contains)
})

test('it finds what a search at every position finds', () => {
  let seed = 1
  const letter = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return 'ab"e'[seed % 4]!
  }
  const word = (length: number) => Array.from({ length }, letter).join('')
  for (let i = 0; i < 2000; i++) {
    const [text, pattern] = [word(i % 40), word(1 + (i % 5))]
    expect([text, pattern, new BytePattern(pattern).isIn(new TextEncoder().encode(text))]).toEqual([
      text,
      pattern,
      text.includes(pattern),
    ])
  }
})
