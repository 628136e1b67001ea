import { expect, test } from 'vitest'
import { numberIn, parseExactJson } from './exact-json.ts'

test.each([
  '9007199254740993',
  '[0.12345678901234567890]',
  '{"a":-18446744073709551615}',
  '[1e400000000000000000]',
  '1e400',
  '-1E+400',
  '[ -0,-0.0 ]',
  '{"a":1.0,"b":[1,0.10, 2.500]}',
  '[123456789012.123456]',
  '{"a":1e3}',
  '[1E-7]',
])('%s keeps its numbers', (text) => {
  expect(JSON.stringify(parseExactJson(text))).toBe(text.replaceAll(' ', ''))
})

test('numbers that a double keeps are plain numbers', () => {
  const text = '[1234567890123456, 12, -1.5, 0, "12345678901234567890", "1.0", 0.1234567890123456]'
  expect(parseExactJson(text)).toEqual([
    1234567890123456,
    12,
    -1.5,
    0,
    '12345678901234567890',
    '1.0',
    0.1234567890123456,
  ])
})

test.each([
  ['12', 12],
  ['12.0', 12],
  ['1e2', 100],
  ['9007199254740993', 9007199254740992],
  ['"12"', undefined],
  ['{}', undefined],
])('the number in %s is %s', (text, number) => expect(numberIn(parseExactJson(text))).toBe(number))
