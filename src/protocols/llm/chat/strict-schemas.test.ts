import { toStrictJsonSchema } from 'openai/lib/transform'
import { expect, test } from 'vitest'
import type { Schema } from './json-schemas.ts'
import { strictSchema } from './strict-schemas.ts'

const TEXT = { type: 'string' }
const object = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

test.each<[given: object, strict: object]>([
  [object({ a: TEXT }), object({ a: TEXT })],
  [{ type: 'object', properties: { a: TEXT }, required: ['a'] }, object({ a: TEXT })],
  [{ type: 'object' }, object({})],
  [object({ a: { type: 'object' } }), object({ a: object({}) })],
  [object({ a: { type: 'array', items: { type: 'object' } } }), object({ a: { type: 'array', items: object({}) } })],
  [object({ a: { anyOf: [TEXT, { type: 'object' }] } }), object({ a: { anyOf: [TEXT, object({})] } })],
  [
    { ...object({ a: { $ref: '#/$defs/b' } }), $defs: { b: { type: 'object' } } },
    { ...object({ a: { $ref: '#/$defs/b' } }), $defs: { b: object({}) } },
  ],
  [object({ a: { enum: ['x', 'y'] } }), object({ a: { type: 'string', enum: ['x', 'y'] } })],
  [object({ a: { enum: ['x', null] } }), object({ a: { type: ['string', 'null'], enum: ['x', null] } })],
  [object({ a: { const: 1 } }), object({ a: { type: 'number', const: 1 } })],
  [
    object({ a: { ...TEXT, minLength: 1, format: 'email' } }),
    object({ a: { ...TEXT, minLength: 1, format: 'email' } }),
  ],
])('%j can be strict', (given, strict) => {
  expect(strictSchema(given as Schema)).toEqual(strict)
  expect(() => toStrictJsonSchema(given)).not.toThrow()
})

test.each<[given: object, hindrance: string]>([
  [{ type: 'object', properties: { a: TEXT } }, 'optional properties'],
  [object({ a: TEXT }, ['b']), 'optional properties'],
  [object({ a: object({ b: TEXT }, []) }), 'optional properties'],
  [{ type: 'object', additionalProperties: true }, 'additionalProperties'],
  [{ type: 'object', additionalProperties: TEXT }, 'additionalProperties'],
  [{ type: 'array', items: TEXT }, 'type'],
  [{ ...object({}), anyOf: [object({})] }, 'anyOf'],
  [object({ a: {} }), 'type'],
  [object({ a: true }), 'true'],
  [object({ a: { type: 'array' } }), 'items'],
  [object({ a: { type: 'array', items: [TEXT] } }), 'a list of items'],
  [object({ a: { ...TEXT, format: 'uri' } }), 'format'],
  [object({ a: { $ref: '#', description: 'd' } }), '$ref'],
  [object({ a: { oneOf: [TEXT], type: 'string' }, b: { not: TEXT, type: 'string' } }), 'oneOf, not'],
])('%j cannot be strict', (given, hindrance) => {
  expect(strictSchema(given as Schema)).toBe(hindrance)
})

test('whether all members are required is read in linear time', () => {
  const names = Array.from({ length: 1000 }, (_, i) => `a${i}`)
  let reads = 0
  const required = new Proxy(names.toReversed(), {
    get(target, key) {
      reads++
      return Reflect.get(target, key)
    },
  })
  const schema = object(Object.fromEntries(names.map((name) => [name, TEXT])), required)
  expect(strictSchema(schema)).toBeTypeOf('object')
  expect(reads).toBeLessThan(10 * names.length)
})
