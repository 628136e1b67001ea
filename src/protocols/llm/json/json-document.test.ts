import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { JsonValue, parseDocument, parseInSteps } from './json-document.ts'

const encoder = new TextEncoder()
const parse = (text: string) => parseDocument(encoder.encode(text))

function parsed(text: string): JsonValue {
  const value = parse(text)
  if (!(value instanceof JsonValue)) throw new Error(`${value.fault} at ${value.at}`)
  return value
}

/** The plain value that a parsed one stands for. */
function plain(value: JsonValue): unknown {
  switch (value.kind) {
    case 'object':
      return Object.fromEntries(value.members.map(([key, member]) => [key, plain(member)]))
    case 'array':
      return value.elements.map(plain)
    case 'string':
      return value.text
    case 'number':
      return value.number
    case 'boolean':
      return value.isTrue
    default:
      return null
  }
}

const long = 'x'.repeat(100)

test.each([
  '{}',
  ' [ ] ',
  '{"a":1,"b":[true,false,null,-1.5e3],"c":{"d":"e","f":{}}}',
  '[[[]],[{}],""]',
  '{"a\\u0062":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9","":"é😀"}',
  `{"long":"${long}\\n${long}","k":"${long}"}`,
  '"text"',
  '3',
  'null',
  JSON.stringify(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i]))),
])('%s reads like JSON.parse', (text) => {
  expect(plain(parsed(text))).toEqual(JSON.parse(text))
})

test.each<[text: string, fault: string, at: number]>([
  ['', 'not-json', 0],
  ['{', 'not-json', 1],
  ['{"a"}', 'not-json', 4],
  ['{"a":1,}', 'not-json', 7],
  ['[1 2]', 'not-json', 3],
  ['[1,]', 'not-json', 3],
  ['{} x', 'not-json', 3],
  ['"a', 'not-json', 2],
  ['"a\\x"', 'not-json', 2],
  ['"\\u12g4"', 'not-json', 1],
  ['"a\nb"', 'not-json', 2],
  [`"${long}\n"`, 'not-json', 101],
  [`"${long}\\q"`, 'not-json', 101],
  [`"${long}\\u12"`, 'not-json', 101],
  ['{"a":1,"a":2}', 'duplicate-key', 7],
  ['[{"b":{"a":1,"\\u0061":2}}]', 'duplicate-key', 13],
  [`{${Array.from({ length: 12 }, (_, i) => `"k${i}":0`).join(',')},"k3":1}`, 'duplicate-key', 87],
  [`{${Array.from({ length: 12 }, (_, i) => `"k${i}":0`).join(',')},"\\u006b3":1}`, 'duplicate-key', 87],
  [`{"\\u00e9":0,${Array.from({ length: 12 }, (_, i) => `"é${i}":0`).join(',')},"é":1}`, 'duplicate-key', 110],
  ['['.repeat(257) + ']'.repeat(257), 'not-json', 256],
])('%s is refused: %s at %d', (text, fault, at) => {
  expect(parse(text)).toEqual({ fault, at })
})

test('text that is not UTF-8 is refused', () => {
  expect(parseDocument(new Uint8Array([0x22, 0xc3, 0x22]))).toEqual({ fault: 'not-json', at: 1 })
})

test('256 levels are read', () => {
  expect(parsed('['.repeat(256) + ']'.repeat(256)).kind).toBe('array')
})

test('a member is found by its name, however it is written; null counts as absent', () => {
  const value = parsed('{"a":1,"\\u0062":2,"c":null,"toString":3}')
  expect(value.get('a')?.number).toBe(1)
  expect(value.get('b')?.number).toBe(2)
  expect(value.get('c')).toBeUndefined()
  expect(value.get('toString')?.number).toBe(3)
  expect(value.get('d')).toBeUndefined()
  expect(parsed('[1]').get('a')).toBeUndefined()
})

test('parts keep their bytes: numbers of any size, escapes, spaces', () => {
  const value = parsed('{"n": 12345678901234567890.10, "s": "\\u00e9\\/", "o": { "x" : 1 } }')
  const text = (name: string) => new TextDecoder().decode(value.get(name)?.json)
  expect([text('n'), text('s'), text('o')]).toEqual(['12345678901234567890.10', '"\\u00e9\\/"', '{ "x" : 1 }'])
})

test.each(['{"a":"\\\\"}', '["\\\\"]', '12', 'true', 'null'])('%s has no text', (json) => {
  expect(parsed(json).text).toBe('')
})

test('a value knows where it is', () => {
  const value = parsed('{"messages":[{"role":"user"},{"content":[{"a":0},{"text":"x"}]}],"z":[[1,2]]}')
  const text = value.get('messages')?.elements[1]?.get('content')?.elements[1]?.get('text')
  expect(text?.path).toBe('messages[1].content[1].text')
  expect(value.get('z')?.elements[0]?.elements[1]?.path).toBe('z[0][1]')
  expect(value.path).toBe('')
})

test('70,000 objects are read in linear time and without deep recursion', () => {
  const value = parsed(`[${'{"a":"b"},'.repeat(69_999)}{"a":"c"}]`)
  expect(value.elements.length).toBe(70_000)
  expect(value.elements[69_999]?.get('a')?.text).toBe('c')
})

test.each<[what: string, most: string, more: string]>([
  ['lists', `[${'[],'.repeat(349_998)}[]]`, `[${'[],'.repeat(349_999)}[]]`],
  ['objects', `[${'{},'.repeat(349_998)}{}]`, `[${'{},'.repeat(349_999)}{}]`],
  ['members', membersOf(349_999), membersOf(350_000)],
])('at most 350,000 %s are read', (_what, most, more) => {
  expect(parsed(most).place).toBe(0)
  expect(parse(more)).toMatchObject({ fault: 'too-many-parts' })
})

test('numbers and texts in lists are not counted', () => {
  expect(parsed(`[${'0,"",'.repeat(200_000)}0]`).elements.length).toBe(400_001)
})

function membersOf(count: number): string {
  return `{${Array.from({ length: count }, (_, key) => `"${key}":0`).join(',')}}`
}

test.each([1, 1363, 1364, 1365, 2729, 2730, 2731, 5461, 5462, 100_000])('a list of %i values is read', (count) => {
  const values = Array.from({ length: count }, (_, index) => index)
  expect(plain(parsed(JSON.stringify(values)))).toEqual(values)
})

test('texts that are read later, or at the same time, change no text that was read before', () => {
  const textOf = (index: number) =>
    JSON.stringify({ [`key ${index}`]: Array.from({ length: index % 40 }, (_, i) => i) })
  const values: JsonValue[] = []
  for (let index = 0; index < 1000; index++) {
    if (index % 100 !== 0) values.push(parsed(textOf(index)))
    else {
      // Another text is read before this one has been.
      const long = 'x'.repeat(200_000)
      const reading = parseInSteps(encoder.encode(`["${long}",${textOf(index)}]`))
      expect(reading.next().done).toBe(false)
      const between = parsed(textOf(index))
      expect(plain(runAtOnce(reading) as JsonValue)).toEqual([long, JSON.parse(textOf(index))])
      values.push(between)
    }
  }
  expect(values.map(plain)).toEqual(values.map((_, index) => JSON.parse(textOf(index))))
})
