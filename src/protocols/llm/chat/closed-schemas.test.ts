import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema'
import { expect, test } from 'vitest'
import { closedSchema } from './closed-schemas.ts'
import type { Schema } from './json-schemas.ts'

const TEXT = { type: 'string' }
const object = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...more,
})

/** What the client library of the vendor makes of them, too. */
const LIKE_VENDOR: readonly (readonly [given: object, closed: object, told: readonly string[]])[] = [
  [{ type: 'object', properties: { a: TEXT }, required: ['a'] }, object({ a: TEXT }, { required: ['a'] }), []],
  [{ type: 'object' }, object({}), []],
  [{ type: 'string', minLength: 1 }, { ...TEXT, description: '{minLength: 1}' }, ['minLength']],
  [
    { type: 'integer', minimum: 0, maximum: 9, description: 'Digit.', title: 'D' },
    { type: 'integer', title: 'D', description: 'Digit.\n\n{minimum: 0, maximum: 9}' },
    ['minimum', 'maximum'],
  ],
  [{ type: 'string', format: 'uuid' }, { type: 'string', format: 'uuid' }, []],
  [{ type: 'string', format: 'phone' }, { ...TEXT, description: '{format: "phone"}' }, ['format']],
  [{ type: 'array', items: { type: 'object' }, minItems: 1 }, { type: 'array', items: object({}), minItems: 1 }, []],
  [
    { type: 'array', items: TEXT, maxItems: 3, minItems: 2 },
    { type: 'array', items: TEXT, description: '{maxItems: 3, minItems: 2}' },
    ['maxItems', 'minItems'],
  ],
  [{ oneOf: [TEXT, { type: 'null' }] }, { anyOf: [TEXT, { type: 'null' }] }, []],
  [{ allOf: [{ type: 'object', properties: { a: TEXT } }] }, { allOf: [object({ a: TEXT })] }, []],
  [
    { type: 'string', enum: ['a', null], default: 'a' },
    { enum: ['a', null], description: '{default: "a"}' },
    ['default'],
  ],
  [{ const: 'x' }, { const: 'x' }, []],
  [
    { $ref: '#/$defs/a', $schema: 's', $defs: { a: { type: 'object' } } },
    { $ref: '#/$defs/a', $defs: { a: object({}) } },
    [],
  ],
]

test.each(LIKE_VENDOR)('as the client library of the vendor: %j', (given, closed, told) => {
  expect(closedSchema(given as Schema)).toEqual({ closed, told })
  expect(transformJSONSchema(given)).toEqual(closed)
})

test.each<[given: object, closed: object, told: readonly string[]]>([
  // The library refuses schemas without a type.
  [{ properties: { a: {} } }, object({ a: {} }), []],
  [{ items: true }, { type: 'array', description: '{items: true}' }, ['items']],
  [{ type: ['object', 'null'], properties: { a: TEXT } }, { ...object({ a: TEXT }), type: ['object', 'null'] }, []],
  // It drops this without a word.
  [
    { type: 'object', additionalProperties: { type: 'number' } },
    object({}, { description: '{additionalProperties: {"type":"number"}}' }),
    ['additionalProperties'],
  ],
  [
    { $ref: '#/definitions/a', definitions: { a: { type: 'object' } } },
    { $ref: '#/definitions/a', definitions: { a: object({}) } },
    [],
  ],
  [{ $ref: '#/$defs/a', description: 'd' }, { $ref: '#/$defs/a' }, ['description']],
  // None of these objects can be closed alone.
  [
    { allOf: [{ type: 'object', properties: { a: TEXT }, required: ['a'] }, { properties: { b: TEXT } }] },
    object({ a: TEXT, b: TEXT }, { required: ['a'] }),
    [],
  ],
  [
    { type: 'object', properties: { a: TEXT }, anyOf: [{ properties: { b: TEXT } }] },
    object({ a: TEXT, b: TEXT }, { description: '{anyOf: [{"properties":{"b":{"type":"string"}}}]}' }),
    ['anyOf'],
  ],
  // Alternatives that only narrow.
  [
    { type: 'object', properties: { a: TEXT }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    object({ a: TEXT }, { description: '{anyOf: [{"required":["a"]},{"required":["b"]}]}' }),
    ['anyOf'],
  ],
  [{ type: 'object', anyOf: [{ properties: { a: TEXT } }, TEXT] }, { anyOf: [object({ a: TEXT }), TEXT] }, []],
])('what the library refuses or spoils: %j', (given, closed, told) => {
  expect(closedSchema(given as Schema)).toEqual({ closed, told })
  expect(closedSchema(closed as Schema)).toEqual({ closed, told: [] })
})

test('a schema whose alternatives would be in many descriptions is refused', () => {
  let schema: object = { ...TEXT, description: 'x'.repeat(100_000) }
  const nest = (times: number) => {
    for (let i = 0; i < times; i++) {
      schema = { type: 'object', properties: { p: schema }, anyOf: [{ properties: { p: {} } }] }
    }
    return schema as Schema
  }
  expect(JSON.stringify(closedSchema(nest(5)).closed).length).toBeLessThan(1_000_000)
  expect(() => closedSchema(nest(15))).toThrow('the schema is longer than 1048576 characters')
})
