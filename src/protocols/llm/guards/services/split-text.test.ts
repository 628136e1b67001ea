import { expect, test } from 'vitest'
import { splitText } from './split-text.ts'

test.each([
  ['', ['']],
  ['0123456789', ['0123456789']],
  ['0123456789a', ['0123456789', 'a']],
  ['01234567 9ab', ['01234567 ', '9ab']],
  // White space only counts in the last quarter of a part.
  ['012 456789abc', ['012 456789', 'abc']],
  ['012345 789abc', ['012345 789', 'abc']],
  ['012345678😀b', ['012345678', '😀b']],
  ['012345678\u{10000}b', ['012345678', '\u{10000}b']],
  ['012345678\u{103ff}b', ['012345678', '\u{103ff}b']],
  ['0123456789\ue000', ['0123456789', '\ue000']],
  ['😀😀😀😀😀😀', ['😀😀😀😀😀', '😀']],
])('%j', (text, parts) => {
  expect(splitText(text, 10)).toEqual(parts)
})

test('parts make up the text, whatever it is made of', () => {
  const text = Array.from(
    { length: 5000 },
    (_, index) => ['word ', '😀', '\n', 'é', 'longer-word'][(index * 7) % 5],
  ).join('')
  for (const length of [10, 11, 64, 1000]) {
    const parts = splitText(text, length)
    expect(parts.join('')).toBe(text)
    expect(parts.every((part) => part.length <= length && part.isWellFormed())).toBe(true)
  }
})

test('an overlap repeats the end of a part, without half a character', () => {
  const parts = splitText('😀'.repeat(40), 10, 3)
  expect(parts.every((part) => part.length <= 10 && part.isWellFormed())).toBe(true)
  expect(parts.slice(1).every((part) => part.startsWith('😀😀'))).toBe(true)
  expect(splitText('0123456789abcdef', 10, 4)).toEqual(['0123456789', '6789abcdef'])
})
