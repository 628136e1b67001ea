import { expect, test } from 'vitest'
import { decodeText, hasText } from './native.ts'

test.each<[bytes: number[], text: string]>([
  [[], ''],
  [[0x61, 0xc3, 0xa4, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80], 'aä€😀'],
  // A byte order mark is a character of the text.
  [[0xef, 0xbb, 0xbf, 0x61], '\ufeffa'],
  [[0x61, 0xff, 0xc3, 0x62, 0xe2, 0x82], 'a\ufffd\ufffdb\ufffd'],
])('%j', (bytes, text) => {
  expect(decodeText(Uint8Array.from(bytes))).toBe(text)
  expect(decodeText(Uint8Array.from([0x78, ...bytes, 0x79]), 1, bytes.length + 1)).toBe(text)
})

test.each<[bytes: string, text: string, has: boolean]>([
  ['', 'ab', false],
  ['ab', 'ab', true],
  ['aab', 'ab', true],
  ['a b', 'ab', false],
  // The Greek capital alpha, and a letter whose low byte is that of `a`.
  ['\u0391b\u0161b', 'ab', false],
  [`${':'.repeat(1000)}"gatewright:`, '"gatewright:', true],
])('whether %j has %j: %j', (bytes, text, has) => {
  // At another place than the first byte of its memory.
  expect(hasText(new TextEncoder().encode(`x${bytes}`).subarray(1), text)).toBe(has)
})
