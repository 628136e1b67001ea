import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#base/json.ts'
import { difference, differenceBelow, equalSets, intersection, isEmpty, pathsOf, union } from './field-set.ts'
import { fieldsOf } from './fields-of.ts'
import { readFieldsV1, writeFieldsV1 } from './fields-v1.ts'
import { objectTypeOf } from './object-type.ts'
import { describePath } from './path-element.ts'

function rewritten(fields: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(writeFieldsV1(withOneMore(fields)))) as JsonObject
}

/** Sets are remembered for the objects that they were read of. */
function withOneMore(fields: JsonObject) {
  return union(readFieldsV1(fields), readFieldsV1({ 'f:zzz': {} }))
}

test.each([
  [{ 'f:spec': { 'f:replicas': {} } }],
  [{ 'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } } }],
  [{ 'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } } }],
  [{ 'f:metadata': { 'f:finalizers': { 'v:"a"': {}, 'v:1': {}, 'v:true': {} } } }],
  [{ 'f:list': { 'i:0': {} } }],
  [{ 'f:a:b.c/d "e"': {} }],
])('%j is read and written', (fields) => {
  const { 'f:zzz': _, ...rest } = rewritten(fields as JsonObject)
  expect(rest).toEqual(fields)
})

test('members are in the order of the platform, and items have one form', () => {
  const fields = { 'f:z': { 'v:"b"': {}, 'k:{ "b": 1, "a": "\\u0041" }': {}, 'f:x': {} }, 'f:a': {} }
  expect(JSON.stringify(rewritten(fields))).toBe(
    '{"f:a":{},"f:z":{"f:x":{},"k:{\\"a\\":\\"A\\",\\"b\\":1}":{},"v:\\"b\\"":{}},"f:zzz":{}}',
  )
})

test('unknown sorts of path elements are left out', () => {
  expect(rewritten({ 'x:future': {}, 'f:a': { 'y:1': {} } })).toEqual({ 'f:a': {}, 'f:zzz': {} })
})

test.each([
  [[], 'a list'],
  ['text', 'a text'],
  [{ a: {} }, 'no sort'],
  [{ '': {} }, 'an empty element'],
  [{ 'k:[1]': {} }, 'keys that are no object'],
  [{ 'k:{': {} }, 'keys that are not JSON'],
  [{ 'v:x': {} }, 'a value that is not JSON'],
  [{ 'i:x': {} }, 'an index that is no number'],
  [{ 'f:a': 1 }, 'a field that is no object'],
])('%j is refused: %s', (fields, _) => {
  expect(() => readFieldsV1(fields)).toThrow(SyntaxError)
})

test.each([[undefined], [null], [{}]])('%j is the empty set', (fields) => {
  expect(isEmpty(readFieldsV1(fields))).toBe(true)
})

describe('sets', () => {
  const ONE = { 'f:a': { '.': {}, 'f:b': {}, 'f:c': {} }, 'f:d': {} }
  const OTHER = { 'f:a': { 'f:b': {} }, 'f:d': { 'f:e': {} }, 'f:f': {} }

  test.each([
    [
      'union',
      union,
      ONE,
      OTHER,
      { 'f:a': { '.': {}, 'f:b': {}, 'f:c': {} }, 'f:d': { '.': {}, 'f:e': {} }, 'f:f': {} },
    ],
    [
      'union, other way',
      union,
      OTHER,
      ONE,
      { 'f:a': { '.': {}, 'f:b': {}, 'f:c': {} }, 'f:d': { '.': {}, 'f:e': {} }, 'f:f': {} },
    ],
    ['intersection', intersection, ONE, OTHER, { 'f:a': { 'f:b': {} } }],
    ['difference', difference, ONE, OTHER, { 'f:a': { '.': {}, 'f:c': {} }, 'f:d': {} }],
    ['difference, other way', difference, OTHER, ONE, { 'f:d': { 'f:e': {} }, 'f:f': {} }],
    ['difference with fields below', differenceBelow, OTHER, ONE, { 'f:f': {} }],
    ['difference with itself', difference, ONE, ONE, {}],
    ['intersection with itself', intersection, ONE, ONE, ONE],
  ])('%s', (_, operation, a, b, result) => {
    expect(writeFieldsV1(operation(readFieldsV1(a), readFieldsV1(b)))).toEqual(result)
  })

  test('equality', () => {
    expect(equalSets(readFieldsV1(ONE), readFieldsV1(structuredClone(ONE)))).toBe(true)
    expect(equalSets(readFieldsV1(ONE), readFieldsV1(OTHER))).toBe(false)
    expect(equalSets(readFieldsV1(OTHER), readFieldsV1({ ...OTHER, 'f:a': { '.': {}, 'f:b': {} } }))).toBe(false)
  })

  test('paths in messages', () => {
    const fields = {
      'f:spec': {
        'f:ports': { 'k:{"name":"a","port":80}': { 'f:port': {} } },
        'f:set': { 'v:"x"': {} },
        'f:list': { 'i:2': {} },
      },
    }
    const texts = pathsOf(readFieldsV1(fields)).map(describePath)
    expect(texts).toEqual(['.spec.list[2]', '.spec.ports[name="a",port=80].port', '.spec.set[="x"]'])
  })
})

const TEXT = { type: 'string' }
const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        text: TEXT,
        atomic: { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'atomic' },
        untyped: { type: 'array', items: { type: 'object', properties: { a: TEXT } } },
        set: { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'set' },
        map: {
          type: 'array',
          items: {
            type: 'object',
            properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' } },
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
        },
        labels: { type: 'object', additionalProperties: TEXT },
        whole: { type: 'object', properties: { a: TEXT }, 'x-kubernetes-map-type': 'atomic' },
        anything: { 'x-kubernetes-preserve-unknown-fields': true },
        open: { type: 'object', properties: { a: TEXT }, 'x-kubernetes-preserve-unknown-fields': true },
        group: { type: 'object', properties: { a: TEXT } },
      },
    },
  },
}

describe('the fields of an object', () => {
  test.each([
    ['a scalar', { spec: { text: 'x' } }, { 'f:spec': { 'f:text': {} } }],
    ['null', { spec: { text: null } }, { 'f:spec': { 'f:text': {} } }],
    ['an atomic list', { spec: { atomic: ['a', 'b'] } }, { 'f:spec': { 'f:atomic': {} } }],
    ['a list without type is atomic', { spec: { untyped: [{ a: 'x' }] } }, { 'f:spec': { 'f:untyped': {} } }],
    ['a set', { spec: { set: ['a', 'b'] } }, { 'f:spec': { 'f:set': { 'v:"a"': {}, 'v:"b"': {} } } }],
    ['an empty set has no fields', { spec: { set: [] } }, {}],
    ['repeated items of a set', { spec: { set: ['a', 'a'] } }, { 'f:spec': { 'f:set': { 'v:"a"': {} } } }],
    [
      'a list by keys, with a default',
      { spec: { map: [{ port: 80 }] } },
      { 'f:spec': { 'f:map': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } } },
    ],
    [
      'repeated keys',
      { spec: { map: [{ port: 80 }, { port: 80, protocol: 'TCP' }] } },
      { 'f:spec': { 'f:map': { 'k:{"port":80,"protocol":"TCP"}': {} } } },
    ],
    ['a list with an item without key', { spec: { map: [{}, 1] } }, { 'f:spec': { 'f:map': {} } }],
    ['members of a map', { spec: { labels: { a: 'x' } } }, { 'f:spec': { 'f:labels': { 'f:a': {} } } }],
    ['an empty map', { spec: { labels: {} } }, { 'f:spec': { 'f:labels': {} } }],
    ['an atomic map', { spec: { whole: { a: 'x' } } }, { 'f:spec': { 'f:whole': {} } }],
    ['an object of named fields', { spec: { group: { a: 'x' } } }, { 'f:spec': { 'f:group': { 'f:a': {} } } }],
    [
      'fields without schema',
      { spec: { anything: { a: { b: [{ c: 1 }] } } } },
      { 'f:spec': { 'f:anything': { 'f:a': { '.': {}, 'f:b': {} } } } },
    ],
    [
      'unknown fields beside known ones',
      { spec: { open: { a: 'x', b: 1 } } },
      { 'f:spec': { 'f:open': { 'f:a': {}, 'f:b': {} } } },
    ],
    [
      'metadata',
      {
        metadata: { name: 'n', labels: { a: 'x' }, finalizers: ['f'], ownerReferences: [{ uid: 'u', name: 'o' }] },
      },
      {
        'f:metadata': {
          'f:name': {},
          'f:labels': { 'f:a': {} },
          'f:finalizers': { 'v:"f"': {} },
          'f:ownerReferences': { 'k:{"uid":"u"}': {} },
        },
      },
    ],
  ])('%s', (_, object, fields) => {
    expect(writeFieldsV1(fieldsOf(objectTypeOf(SCHEMA), object))).toEqual(fields)
  })
})
