import { expect, test } from 'vitest'
import { bytesOf, fromByteText, toByteText, trimSpace } from './byte-text.ts'

const pairs = [
  // text       its UTF-8 bytes
  ['', ''],
  ['plain', 'plain'],
  ['\u00e9', '\u00c3\u00a9'],
  ['\u20ac5', '\u00e2\u0082\u00ac5'],
  ['\u{1f511}', '\u00f0\u009f\u0094\u0091'],
  ['\ufeffadmin', '\u00ef\u00bb\u00bfadmin'],
] as const

for (const [text, byteText] of pairs) {
  test(`byte text of "${text}"`, () => {
    expect(toByteText(text)).toBe(byteText)
    expect(fromByteText(byteText)).toBe(text)
  })
}

test('bytes that are no UTF-8 read as the replacement character', () => {
  expect(fromByteText('a\u00ff')).toBe('a\ufffd')
})

test.each([
  ['', ''],
  ['a', 'a'],
  [' \t\r\n', ''],
  ['\t a b \r\n', 'a b'],
  ['\u00c3\u00a0', '\u00c3\u00a0'],
  [' \u00a0\u0085\u000b\u000c ', '\u00a0\u0085\u000b\u000c'],
])('%j without the space around it is %j', (text, trimmed) => {
  expect(trimSpace(text)).toBe(trimmed)
})

test('bytes are the character codes', () => {
  expect([...bytesOf('\u0000a\u00ff')]).toEqual([0, 97, 255])
})
