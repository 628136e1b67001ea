import { expect, test } from 'vitest'
import { readTexts } from './read-texts.ts'
import { runsOf } from './testing.ts'
import { compileTable } from './text-table.ts'
import { SCHEMA } from './treatments.ts'

const TABLE = compileTable({ first: [], runs: {}, places: { s: SCHEMA }, anywhere: {} })

/** The strings of a schema that a model reads; those that cannot change end with `!`. */
function read(schema: unknown): readonly string[] {
  const runs = runsOf({ s: schema }, (document) => readTexts(document, TABLE))
  return runs.flatMap(([role, ...texts]) => {
    expect(role).toBe('(user)')
    return texts
  })
}

test.each(['title', 'description', '$comment', 'markdownDescription'])('%s can be masked', (keyword) => {
  expect(read({ [keyword]: 'a' })).toEqual([`s.${keyword}: a`])
  expect(read({ [keyword]: ['a', { b: 'c' }] })).toEqual([
    ...[`s.${keyword}[0]: a!`, `s.${keyword}[1]{0}:name: b!`, `s.${keyword}[1]{0}: c!`],
  ])
})

test.each([
  ...['items', 'prefixItems', 'additionalItems', 'contains', 'additionalProperties', 'unevaluatedItems'],
  ...['unevaluatedProperties', 'propertyNames', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'],
  'contentSchema',
])('%s has a schema, or a list of them', (keyword) => {
  expect(read({ [keyword]: { title: 'a', const: 'b' } })).toEqual([`s.${keyword}.title: a`, `s.${keyword}.const: b!`])
  expect(read({ [keyword]: [{ title: 'a' }, { const: 'b' }] })).toEqual([
    ...[`s.${keyword}[0].title: a`, `s.${keyword}[1].const: b!`],
  ])
  expect(read({ [keyword]: false })).toEqual([])
})

test.each(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])(
  '%s has schemas by names, which cannot change',
  (keyword) => {
    expect(read({ [keyword]: { title: { title: 'a' } } })).toEqual([
      ...[`s.${keyword}{0}:name: title!`, `s.${keyword}{0}.title: a`],
    ])
    expect(read({ [keyword]: ['a', { title: 'b' }] })).toEqual([
      ...[`s.${keyword}[0]: a!`, `s.${keyword}[1]{0}:name: title!`, `s.${keyword}[1]{0}: b!`],
    ])
  },
)

test.each([
  ...['enum', 'const', 'default', 'examples', 'example', 'pattern', 'format', 'required', 'dependentRequired'],
  ...['$ref', '$schema', '$id', 'id', '$anchor', '$dynamicRef', '$dynamicAnchor', 'minimum', 'maximum', 'minLength'],
  ...['maxLength', 'minItems', 'maxItems', 'uniqueItems', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['nullable', 'strict', 'readOnly', 'writeOnly', 'deprecated', 'minProperties', 'maxProperties', 'discriminator'],
  ...['contentEncoding', 'contentMediaType', 'minContains', 'maxContains', 'propertyOrdering'],
])('%s has a value that cannot change', (keyword) => {
  for (const text of ['a', 'string']) expect(read({ [keyword]: text })).toEqual([`s.${keyword}: ${text}!`])
  expect(read({ [keyword]: [1, 'a', { title: 'b' }] })).toEqual([
    ...[`s.${keyword}[1]: a!`, `s.${keyword}[2]{0}:name: title!`, `s.${keyword}[2]{0}: b!`],
  ])
  expect(read({ [keyword]: 1 })).toEqual([])
})

test('other members are names that a client chose, with values that cannot change', () => {
  expect(read({ odd: 'a', Title: { title: 'b' } })).toEqual([
    ...['s{0}:name: odd!', 's{0}: a!', 's{1}:name: Title!', 's{1}{0}:name: title!', 's{1}{0}: b!'],
  ])
})

test.each(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])('the type %s is a keyword', (type) => {
  expect(read({ type })).toEqual([])
  expect(read({ type: ['null', type] })).toEqual([])
  expect(read({ type: { title: type } })).toEqual(['s.type{0}:name: title!', `s.type{0}: ${type}!`])
})

test('another type is a text', () => {
  expect(read({ type: 'odd' })).toEqual(['s.type: odd!'])
  expect(read({ type: { x: 'odd' } })).toEqual(['s.type{0}:name: x!', 's.type{0}: odd!'])
  expect(read({ type: ['string', 'odd'] })).toEqual(['s.type[0]: string!', 's.type[1]: odd!'])
})

test('a schema that is a text cannot change', () => {
  expect(read('a')).toEqual(['s: a!'])
  expect(read([{ title: 'a' }, 'b', true])).toEqual(['s[0].title: a', 's[1]: b!'])
})
