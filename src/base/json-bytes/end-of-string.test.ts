import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson } from '../parse-json.ts'
import { endOfString } from './end-of-string.ts'

/** Pieces that end a string, are invalid in it, or belong to its text. */
const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('a', ' ', 'é', '\u{1f600}', '\x7f', 'plain text that is long enough. '.repeat(20)),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\u0aF9', '\\ud800'),
  },
  { weight: 1, arbitrary: fc.constantFrom('"', '\n', '\x00', '\x1f', '\\x', '\\u00g0', '\\u 000', '\\', '\\u12') },
)
const content = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))
const VALID = /(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/uy

/** The bytes of a text at an address that need not be one of a word. */
function placed(text: string, shift: number): Uint8Array {
  const encoded = new TextEncoder().encode(text)
  const memory = new Uint8Array(encoded.length + 8).fill(0x22)
  memory.set(encoded, shift)
  return memory.subarray(shift, shift + encoded.length)
}

test('a string ends where its grammar says, at any address', () => {
  fc.assert(
    fc.property(content, fc.nat(3), (text, shift) => {
      const bytes = placed(text, shift)
      VALID.lastIndex = 0
      const valid = new TextEncoder().encode(VALID.exec(text)![0]).length
      expect(endOfString(bytes, 0)).toBe(bytes[valid] === 0x22 ? valid + 1 : ~valid)
    }),
    { numRuns: 2000 },
  )
})

test('a limit ends the reading behind a whole escape, and hides nothing before it', () => {
  fc.assert(
    fc.property(content, fc.nat(3), fc.nat(1500), (text, shift, at) => {
      const bytes = placed(text, shift)
      const limit = Math.min(at, bytes.length)
      const whole = endOfString(bytes, 0)
      const end = endOfString(bytes, 0, limit)
      const isWithin = whole >= 0 ? whole <= limit : ~whole < limit
      if (!isWithin) expect(~end).toBeGreaterThanOrEqual(limit)
      expect(isWithin ? end : endOfString(bytes, ~end)).toBe(whole)
    }),
    { numRuns: 2000 },
  )
})

test('every byte beside plain text is noticed at every place of a word', () => {
  for (let byte = 0; byte < 256; byte++) {
    for (let at = 512; at < 520; at++) {
      const bytes = new Uint8Array(528).fill(0x61)
      bytes[at] = byte
      bytes[527] = 0x22
      const isFault = byte < 0x20 || byte === 0x5c
      expect(endOfString(bytes, 0)).toBe(isFault ? ~at : byte === 0x22 ? at + 1 : 528)
    }
  }
})

test.each(['u\\n', '\\nu', 'u\\"u\\"'])('a letter u beside an escape is not a part of it: %s', (text) => {
  const bytes = placed(`${'a'.repeat(520)}${text}"aaaaaa"`, 0)
  expect(endOfString(bytes, 0)).toBe(520 + text.length + 1)
})

test.each(['\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\u0000', '\\uFFFF', '\\uaAfF'])(
  '%s is an escape',
  (text) => {
    expect(endOfString(placed(`${text}"`, 0), 0)).toBe(text.length + 1)
    expect(typeof parseJson(`"${text}"`)).toBe('string')
  },
)

test.each([
  '\\a',
  '\\N',
  '\\0',
  "\\'",
  '\\U0000',
  '\\x41',
  '\\u',
  '\\u000',
  '\\u00:0',
  '\\u00/0',
  '\\u@000',
  '\\u000G',
  '\\u000`',
])('%s is none', (text) => {
  expect(endOfString(placed(`${text}"`, 0), 0)).toBe(~0)
  expect(() => parseJson(`"${text}"`)).toThrow()
})
