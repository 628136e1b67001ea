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
