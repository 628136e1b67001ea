import { expect, test } from 'vitest'
import { utf8Length } from './utf8-length.ts'

test.each([
  '',
  '\0',
  '\x7f',
  '\x80',
  '\u07ff',
  '\u0800',
  '\ud7ff',
  '\ud800\udc00',
  '\udbff\udfff',
  '\ue000',
  '\uffff',
  'aé文🙂',
])('%j is as long as its encoding', (text) => {
  expect(utf8Length(text)).toBe(Buffer.byteLength(text))
})

test.each([
  ['aé', 4, 3],
  ['aé', 3, 3],
  ['aé', 2, 2],
  ['aéa', 2, 3],
])('of %j, with %i as enough: %i', (text, enough, length) => {
  expect(utf8Length(text, enough)).toBe(length)
})
