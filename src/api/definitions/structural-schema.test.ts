import { expect, test } from 'vitest'
import { orConditional } from '#policies/shared/conditional.ts'
import {
  byteSize,
  defaulted,
  duration,
  enumOf,
  exactlyOne,
  integer,
  intOrString,
  json,
  list,
  listMap,
  literal,
  mapOf,
  notEmpty,
  object,
  openObject,
  optional,
  required,
  setOf,
  type TSchema,
  text,
  withRule,
} from '#schema/index.ts'
import { type StructuralSchema, structuralSchema } from './structural-schema.ts'

const string = { type: 'string' }
const ATOMIC = { 'x-kubernetes-list-type': 'atomic' }

test.each<[name: string, schema: TSchema, expected: StructuralSchema]>([
  ['text', text({ min: 1, max: 5 }), { type: 'string', minLength: 1, maxLength: 5 }],
  ['one of several words', enumOf('a', 'b'), { type: 'string', enum: ['a', 'b'] }],
  ['one word', literal('a'), { type: 'string', enum: ['a'] }],
  ['integer', integer({ min: 0, max: 9 }), { type: 'integer', minimum: 0, maximum: 9 }],
  ['any value', json(), { nullable: true, 'x-kubernetes-preserve-unknown-fields': true }],
  [
    'map',
    mapOf(text(), { min: 1, max: 2 }),
    { type: 'object', additionalProperties: string, minProperties: 1, maxProperties: 2 },
  ],
  ['list', list(text(), { min: 1, max: 2 }), { type: 'array', ...ATOMIC, minItems: 1, maxItems: 2, items: string }],
  [
    'integer or text',
    intOrString(),
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
  ],
  [
    'object of the platform',
    openObject({ a: optional(text()) }),
    { type: 'object', properties: { a: string }, 'x-kubernetes-preserve-unknown-fields': true },
  ],
  ['set', setOf(text()), { type: 'array', 'x-kubernetes-list-type': 'set', items: string }],
  ['set of objects', setOf(object({})), { type: 'array', ...ATOMIC, items: { type: 'object', properties: {} } }],
  [
    'list with keys',
    listMap('name', object({ name: required(text(), 'Name.') })),
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', properties: { name: { type: 'string', description: 'Name.' } }, required: ['name'] },
    },
  ],
  [
    'duration with a minimum',
    duration({ min: '1s' }),
    {
      type: 'string',
      maxLength: 32,
      pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$',
      'x-kubernetes-validations': [{ rule: "duration(self) >= duration('1s')", message: 'must be at least 1s' }],
    },
  ],
  [
    'default',
    object({ a: defaulted(integer(), 7, 'A.') }),
    { type: 'object', properties: { a: { type: 'integer', description: 'A.', default: 7 } } },
  ],
  [
    'group of fields',
    exactlyOne(['a', 'namespace'], object({ a: optional(text()), namespace: optional(text()) })),
    {
      type: 'object',
      properties: { a: string, namespace: string },
      'x-kubernetes-validations': [
        {
          rule: '[has(self.a), has(self.__namespace__)].filter(isSet, isSet).size() == 1',
          message: 'Exactly one of a, namespace must be set.',
        },
      ],
    },
  ],
])('%s', (_, schema, expected) => {
  expect(structuralSchema(schema)).toEqual(expected)
})

test('a size in bytes is an integer within bounds, or a text', () => {
  expect(structuralSchema(byteSize({ min: 5 }))).toMatchObject({
    'x-kubernetes-int-or-string': true,
    minimum: 5,
    maximum: 4_294_967_295,
    maxLength: 32,
  })
})

test('rules that an API server can check', () => {
  const fields = notEmpty(object({ a: optional(text()) }))
  const rule = { reads: [], description: 'A rule.', check: () => [] }
  const schema = withRule(withRule(fields, { ...rule, onServer: 'self.a' }), rule)
  expect(structuralSchema(schema)['x-kubernetes-validations']).toEqual([
    { rule: '[has(self.a)].filter(isSet, isSet).size() >= 1', message: 'a must be set.' },
    { rule: 'self.a', message: 'A rule.' },
  ])
})

test('beside `conditional` nothing is required, excluded or set', () => {
  const rule = { reads: [], description: 'A rule.', check: () => [], onServer: 'self.b > 0' }
  const policy = withRule(object({ a: required(text(), 'A.'), b: defaulted(integer(), 1, 'B.') }), rule)
  const { required: names, properties, ...rest } = structuralSchema(orConditional(policy))
  expect(names).toBeUndefined()
  expect(properties).toMatchObject({ b: { type: 'integer', description: 'B.' } })
  expect((properties as { b: object }).b).not.toHaveProperty('default')
  expect(rest['x-kubernetes-validations']).toEqual([
    {
      rule: '!has(self.conditional) || !has(self.a) && !has(self.b)',
      message: 'conditional cannot be set with any other field.',
    },
    { rule: 'has(self.conditional) || (has(self.a))', message: 'a is required' },
    { rule: 'has(self.conditional) || (self.b > 0)', message: 'A rule.' },
    {
      rule: expect.stringMatching(/^!has\(self\.conditional\) \|\| self\.conditional\.filter\(/),
      message: 'Only the last entry of conditional may omit condition.',
    },
  ])
})
