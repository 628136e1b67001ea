import { expect, test } from 'vitest'
import { splitText } from './split-text.ts'

test.each([
  ['', ['']],
  ['0123456789', ['0123456789']],
  ['0123456789a', ['0123456789', 'a']],
  ['01234567 9ab', ['01234567 ', '9ab']],
  // White space in the last quarter comes before other boundaries, so that an address stays whole.
  ['0123456 a@b', ['0123456 ', 'a@b']],
  ['012345 a@bc', ['012345 a@', 'bc']],
  // Without white space in the last quarter of a part, it ends with a word.
  ['012 456789abc', ['012 ', '456789abc']],
  ['012345 789abc', ['012345 ', '789abc']],
  ['0,é34567é89,b', ['0,', 'é34567é89,', 'b']],
  ['01-😀45𝐀𝐁78-b', ['01-😀', '45𝐀𝐁78-b']],
  // An accent that is a character of its own.
  ['01234567.e\u0301a', ['01234567.', 'e\u0301a']],
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

test('words of more than 256 characters may be cut', () => {
  for (const word of ['x'.repeat(256), '字'.repeat(256)]) {
    expect(splitText(`${'-'.repeat(800)}${word}.`, 1000)).toEqual(['-'.repeat(800), `${word}.`])
  }
  // A part ends one character before the end of the word.
  expect(splitText('-'.repeat(745) + 'x'.repeat(256), 1000)[0]).toHaveLength(745)
  expect(splitText('-'.repeat(744) + 'x'.repeat(257), 1000)[0]).toHaveLength(1000)
})

test('an overlap repeats the end of a part, without half a character', () => {
  const parts = splitText('😀'.repeat(40), 10, 3)
  expect(parts.every((part) => part.length <= 10 && part.isWellFormed())).toBe(true)
  expect(parts.slice(1).every((part) => part.startsWith('😀😀'))).toBe(true)
  expect(splitText('0123456789abcdef', 10, 4)).toEqual(['0123456789', '6789abcdef'])
})
