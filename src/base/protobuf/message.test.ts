import { create, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf'
import { DurationSchema, FileDescriptorProtoSchema, ValueSchema } from '@bufbuild/protobuf/wkt'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../json.ts'
import { parseJson } from '../parse-json.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  decodeMessage,
  encodeMessage,
  field,
  INT32,
  INT64,
  map,
  message,
  repeated,
  STRING,
  UINT32,
} from './message.ts'
import { STRUCT } from './struct.ts'

// `@bufbuild/protobuf` is the independent reader and writer of well-known types.

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const bytes = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

const INNER = message({ number: field(1, INT32) })
const ALL = message({
  text: field(1, STRING),
  blob: field(2, BYTES),
  flag: field(3, BOOL),
  small: field(4, INT32),
  count: field(5, UINT32),
  large: field(6, INT64),
  real: field(7, DOUBLE),
  inner: field(8, INNER),
  texts: repeated(9, STRING),
  inners: repeated(10, INNER),
  labels: map(11, STRING),
  far: field(2000, STRING),
})

test.each([
  ['an integer', { small: 150 }, '20 9601'],
  ['a negative one, as 64 bits', { small: -1 }, '20 ffffffffffffffffff01'],
  ['32 bits', { count: 0xffffffff }, '28 ffffffff0f'],
  ['64 bits', { large: -(2 ** 53) }, '30 80808080808080f0ff01'],
  ['a text', { text: 'testing' }, '0a 07 74657374696e67'],
  ['an empty text is on the wire', { text: '' }, '0a 00'],
  ['a text that is not ASCII', { text: 'aü€😀' }, '0a 0a 61c3bce282acf09f9880'],
  ['bytes', { blob: bytes('00ff') }, '12 02 00ff'],
  ['a bool', { flag: true }, '18 01'],
  ['a double', { real: -1.5 }, '39 000000000000f8bf'],
  ['a nested message', { inner: { number: 3 } }, '42 02 0803'],
  ['an empty one', { inner: {} }, '42 00'],
  ['repeated texts', { texts: ['a', ''] }, '4a 01 61 4a 00'],
  ['repeated messages', { inners: [{ number: 1 }, {}] }, '52 02 0801 52 00'],
  ['a map', { labels: new Map([['k', 'v']]) }, '5a 06 0a016b 120176'],
  ['a tag of two bytes', { far: 'x' }, '827d 01 78'],
  ['nothing', {}, ''],
])('%s, in both directions', (_, value, wire) => {
  expect(hex(encodeMessage(ALL, value))).toBe(wire.replaceAll(' ', ''))
  expect(decodeMessage(ALL, bytes(wire))).toEqual(value)
})

test('a large nested message has a length of several bytes', () => {
  const texts = Array.from({ length: 5000 }, (_, i) => `text ${i}`)
  const OUTER = message({ all: field(1, ALL) })
  const value = { all: { inner: { number: 1 }, texts, far: 'end' } }
  expect(decodeMessage(OUTER, encodeMessage(OUTER, value))).toEqual(value)
})

test('a message does not change when the next one is encoded', () => {
  const first = encodeMessage(ALL, { text: 'first' })
  encodeMessage(ALL, { text: 'other' })
  expect(decodeMessage(ALL, first)).toEqual({ text: 'first' })
})

test('unknown fields of all wire types are skipped; of a repeated value the last one counts', () => {
  const unknown = 'e83e 05  e93e 0102030405060708  ea3e 03 616263  ed3e 01020304'
  expect(decodeMessage(ALL, bytes(`${unknown} 2001 ${unknown} 2002`))).toEqual({ small: 2 })
})

test.each([
  ['a tag without a value', '20'],
  ['an integer that does not end', '20 ffffffffffffffffffff'],
  ['a text that is longer than the message', '0a 08 74'],
  ['a nested message that is longer than the message', '42 05 0801'],
  ['a nested value that is longer than its message', '42 03 0a 05 61 6162'],
  ['a length beyond all memory', '0a ffffffffffffff7f 61'],
  ['a text that is not UTF-8', '0a 02 c328'],
  ['half of a double', '39 00000000'],
  ['a group', 'eb3e ec3e'],
  ['field number 0', '0205 61'],
  ['an unknown field that is cut', 'ea3e 05 61'],
])('%s is malformed', (_, wire) => {
  expect(decodeMessage(ALL, bytes(wire))).toBeUndefined()
})

test('nesting is bounded', () => {
  const nested = (depth: number) => {
    let value: JsonObject = {}
    for (let i = 0; i < depth; i++) value = { a: value }
    return encodeMessage(message({ value: field(1, STRUCT) }), { value })
  }
  const HOLDER = message({ value: field(1, STRUCT) })
  expect(decodeMessage(HOLDER, nested(20))).toBeDefined()
  expect(decodeMessage(HOLDER, nested(100))).toBeUndefined()
})

test('any bytes give a message or nothing', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (any) => {
      decodeMessage(ALL, any)
    }),
  )
})

test('JSON objects are read and written as by another implementation', () => {
  // The member of `google.protobuf.Value` for objects.
  const HOLDER = message({ value: field(5, STRUCT) })
  const object = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 6 })
  fc.assert(
    fc.property(object, (given) => {
      const value = parseJson(JSON.stringify(given)) as JsonObject
      expect(toJson(ValueSchema, fromBinary(ValueSchema, encodeMessage(HOLDER, { value })))).toEqual(value)
      const theirs = toBinary(
        ValueSchema,
        fromJson(ValueSchema, parseJson(JSON.stringify(value)) as Parameters<typeof fromJson>[1]),
      )
      expect(decodeMessage(HOLDER, theirs)).toEqual({ value })
    }),
  )
})

test('well-known types are read as written by another implementation', () => {
  const DURATION = message({ seconds: field(1, INT64), nanos: field(2, INT32) })
  for (const [seconds, nanos] of [
    [0, 1],
    [-3, -500],
    [253_402_300_799, 999_999_999],
  ] as const) {
    const theirs = toBinary(DurationSchema, create(DurationSchema, { seconds: BigInt(seconds), nanos }))
    const ours = decodeMessage(DURATION, theirs)!
    expect([ours.seconds ?? 0, ours.nanos]).toEqual([seconds, nanos])
    expect(fromBinary(DurationSchema, encodeMessage(DURATION, { seconds, nanos }))).toMatchObject({
      seconds: BigInt(seconds),
      nanos,
    })
  }
  const FILE = message({
    name: field(1, STRING),
    dependencies: repeated(3, STRING),
    messages: repeated(
      4,
      message({ name: field(1, STRING), nested: repeated(3, message({ name: field(1, STRING) })) }),
    ),
  })
  const written = { name: 'a.proto', dependency: ['b', 'c'], messageType: [{ name: 'M', nestedType: [{ name: 'N' }] }] }
  const theirs = toBinary(FileDescriptorProtoSchema, create(FileDescriptorProtoSchema, written))
  expect(decodeMessage(FILE, theirs)).toEqual({
    name: 'a.proto',
    dependencies: ['b', 'c'],
    messages: [{ name: 'M', nested: [{ name: 'N' }] }],
  })
})
