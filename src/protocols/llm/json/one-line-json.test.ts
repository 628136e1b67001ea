import { expect, test } from 'vitest'
import { JsonValue, parseDocument } from './json-document.ts'
import { inPieces, keyText, membersOf, textOf, withMembers } from './one-line-json.ts'
import { encode } from './splice.ts'

function parsed(text: string): JsonValue {
  const value = parseDocument(encode(text))
  if (!(value instanceof JsonValue)) throw new Error(`not JSON at ${value.at}`)
  return value
}

test.each<[text: string, line: string]>([
  ['{"a":\r\n\n1}', '{"a": 1}'],
  ['1.0', '1.0'],
  ['"\\n"', '"\\n"'],
])('the text of %j is one line', (text, line) => expect(textOf(parsed(text))).toBe(line))

test('there is no text of nothing', () => expect(textOf(undefined)).toBe(''))

const CHANGES = { a: '[]', b: undefined, c: '""' }
test.each<[text: string, changed: string]>([
  ['{"a":1,"b":2,"d":3}', '{"a":[],"d":3}'],
  ['{"d":\n3}', '{"d":3}'],
  ['{"a":null,"b":null,"c":null,"d":null}', '{"a":null,"c":null,"d":null}'],
  ['{"toString":1,"":2}', '{"toString":1,"":2}'],
  ['{"\\u0061":1}', '{"\\u0061":[]}'],
  ['{}', '{}'],
  ['[1]', '[1]'],
  ['"a"', '"a"'],
])('%s with other members', (text, changed) => {
  expect(withMembers(parsed(text), CHANGES)).toBe(changed)
  expect(membersOf(parsed(text), CHANGES)).toBe(changed.startsWith('{') ? changed.slice(1, -1) : '')
})

test('the name of a member is as it was received', () => {
  const object = parsed(' {"a":1,"\\u0062":{"c":2}}')
  const members = object.children()
  members.next()
  const inner = members.next()!
  expect(keyText(object, members)).toBe('"\\u0062"')
  const within = inner.children()
  within.next()
  expect(keyText(inner, within)).toBe('"c"')
})

const textsOf = (pieces: Iterable<string | Uint8Array>) =>
  [...pieces].map((piece) => (typeof piece === 'string' ? piece : Buffer.from(piece).toString('latin1')))

test('short values are joined with the texts around them', () => {
  expect(textsOf(inPieces(['a', parsed('[1,\n2]'), 'b']))).toEqual(['a[1, 2]b'])
  // With its quotes it has 65,536 bytes.
  const longest = `"${'x'.repeat(65_534)}"`
  expect(textsOf(inPieces(['a', parsed(longest), 'b']))).toEqual([`a${longest}b`])
})

test('long values are in pieces, which are not copied', () => {
  const json = encode(`"${'x'.repeat(140_000)}"`)
  const value = parseDocument(json) as JsonValue
  const pieces = [...inPieces(['a', value, 'b', parsed('1'), 'c'])]
  expect(pieces.map((piece) => piece.length)).toEqual([1, 65_536, 65_536, 140_002 - 2 * 65_536, 3])
  expect(textsOf(pieces).join('')).toBe(`a"${'x'.repeat(140_000)}"b1c`)
  expect((pieces[1] as Uint8Array).buffer).toBe(json.buffer)
})

test('a long value ends with its last piece', () => {
  const value = parsed(`"${'x'.repeat(2 * 65_536 - 2)}"`)
  expect([...inPieces([value, 'b'])].map((piece) => piece.length)).toEqual([0, 65_536, 65_536, 1])
})

test.each(['\n', '\r', '\r\n'])('a long value has no line ends: %j', (end) => {
  const list = `[${end}${'1,'.repeat(40_000)}${end}2]`
  const value = parsed(list)
  const before = Buffer.from(value.json).toString()
  expect(textsOf(inPieces([value])).join('')).toBe(list.replaceAll(/[\r\n]/g, ' '))
  expect(Buffer.from(value.json).toString(), 'the bytes of the provider stay').toBe(before)
})
