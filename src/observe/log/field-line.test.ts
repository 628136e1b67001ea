import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson } from '#base/parse-json.ts'
import { anyCharacter } from '#test/support/any-character.ts'
import { JSON_LINE, TEXT_LINE } from './field-line.ts'
import { formatTimestamp } from './timestamp.ts'

test.each([
  ['plain', 'plain'],
  ['a/b?c', 'a/b?c'],
  ['with space', '"with space"'],
  ['a=b', '"a=b"'],
  ['', '""'],
  ['"quoted"', '"\\"quoted\\""'],
  ['back\\slash', '"back\\\\slash"'],
  ['two\nlines', '"two\\nlines"'],
  ['tab\t', '"tab\\t"'],
  ['\u001b[2J', '"\\u001b[2J"'],
  ['\u0000', '"\\u0000"'],
  ['\u007f', '"\\u007f"'],
  ['\u009b2J', '"\\u009b2J"'],
  ['\u202egnp', '"\\u202egnp"'],
  ['\u2028', '"\\u2028"'],
  ['\ufeff', '"\\ufeff"'],
  ['grün', 'grün'],
  ['日本', '日本'],
])('%j is written as %s', (value, written) => {
  expect(`${TEXT_LINE.key('f')}${TEXT_LINE.text(value)}`).toBe(` f=${written}`)
  expect(TEXT_LINE.foreign('f', value)).toBe(` f=${written}`)
})

/** What terminals obey, or readers take for the end of a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202e]/

test('any text stays on its line, cannot look like another field, and can be read back', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (value) => {
      const written = TEXT_LINE.text(value)
      expect(written).not.toMatch(OBEYED)
      expect(written.startsWith('"') ? JSON.parse(written) : written).toBe(value)
      if (!written.startsWith('"')) expect(written).not.toMatch(/[\s="]/)
    }),
  )
})

const anyText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom('\u001b[2J', '\u009b2J', '\u202e', '\u2028', '\ud800'),
)

test('any line of JSON can be read back, and is one line that a terminal can show', () => {
  fc.assert(
    fc.property(anyText, anyText, fc.jsonValue({ stringUnit: anyCharacter }), (name, text, json) => {
      const line = `${JSON_LINE.start(0)}${JSON_LINE.key('a')}${JSON_LINE.text(text)}${JSON_LINE.foreign(`b${name}`, json as null)}${JSON_LINE.end}`
      expect(line.at(-1)).toBe('\n')
      expect(line.slice(0, -1)).not.toMatch(OBEYED)
      const read = parseJson(line) as Record<string, unknown>
      expect(read.a).toBe(text)
      expect(JSON.stringify(read[`b${name}`])).toBe(JSON.stringify(json))
    }),
  )
})

test('times are in UTC with milliseconds', () => {
  expect(formatTimestamp(0)).toBe('1970-01-01T00:00:00.000Z')
  expect(formatTimestamp(Date.UTC(2026, 11, 31, 23, 59, 59, 999))).toBe('2026-12-31T23:59:59.999Z')
  expect(formatTimestamp(Date.UTC(2026, 11, 31, 23, 59, 59, 999))).toBe('2026-12-31T23:59:59.999Z')
})

test.each([
  [200, '200', '200'],
  [0.873, '0.873', '0.873'],
  [-0, '0', '0'],
  [1e21, '1e+21', '1e+21'],
  // JSON has no such numbers.
  [Number.POSITIVE_INFINITY, 'Infinity', 'null'],
  [Number.NaN, 'NaN', 'null'],
])('the number %d is %s in text and %s in JSON', (value, text, json) => {
  expect([TEXT_LINE.number(value), JSON_LINE.number(value)]).toEqual([text, json])
})

test('a number is written as JavaScript writes it, whatever its decimals', () => {
  const shortNumber = fc.integer({ min: -(2 ** 31), max: 2 ** 31 }).map((thousandths) => thousandths / 1000)
  fc.assert(
    fc.property(fc.oneof(shortNumber, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })), (value) => {
      expect(TEXT_LINE.number(value)).toBe(String(value))
      expect(JSON_LINE.number(value)).toBe(String(value))
    }),
  )
})
