import { expect, test } from 'vitest'
import { parseDocument } from '../json/json-document.ts'
import { writeJson } from '../json/write-json.ts'
import { Losses } from './losses.ts'
import { inputSchema } from './tool-parameters.ts'
import { Untranslatable } from './untranslatable.ts'

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const TEXT = { type: 'string' }
const A = { type: 'object', properties: { a: TEXT }, required: ['a'] }
const B = { type: 'object', properties: { b: TEXT }, required: ['b'] }

function written(schema: object) {
  const body = parseDocument(bytes({ tools: [{ parameters: schema }] }))
  if ('fault' in body) throw new Error(body.fault)
  const origin = body.get('tools')!.elements[0]!
  const losses = new Losses()
  const parameters = bytes(schema)
  const more = { description: undefined, strict: undefined, takesText: false }
  const sent = inputSchema({ name: 't', parameters, origin, ...more }, losses)
  return { schema: JSON.parse(new TextDecoder().decode(writeJson(sent))), losses: losses.paths }
}

const kind = (name: string) => ({ properties: { kind: { const: name } }, required: ['kind'] })

test.each<[case_: string, given: object, sent: object]>([
  ['no type', { properties: { a: TEXT } }, { type: 'object', properties: { a: TEXT } }],
  ['no members', {}, { type: 'object', properties: {} }],
  ['type null', { type: null, properties: { a: TEXT } }, { type: 'object', properties: { a: TEXT } }],
  ['type null alone', { type: null }, { type: 'object', properties: {} }],
  ['nullable object', { type: ['object', 'null'], properties: {} }, { type: 'object', properties: {} }],
  ['another type', { type: 'string' }, { type: 'string' }],
  [
    'alternatives of a member',
    { type: 'object', properties: { a: { anyOf: [TEXT] } } },
    { type: 'object', properties: { a: { anyOf: [TEXT] } } },
  ],
  ['parts', { allOf: [A, B] }, { type: 'object', properties: { a: TEXT, b: TEXT }, required: ['a', 'b'] }],
  ['a reference', { $ref: '#/$defs/a', $defs: { a: A } }, { ...A, $defs: { a: A } }],
])('the schema of a tool with %s', (_, given, sent) => {
  expect(written(given)).toEqual({ schema: sent, losses: [] })
})

test.each<[given: { [keyword: string]: unknown }, properties: object, required: string[] | undefined]>([
  [{ anyOf: [A, { type: 'object' }] }, { a: TEXT }, undefined],
  [{ anyOf: [A, B] }, { a: TEXT, b: TEXT }, undefined],
  [{ oneOf: [A, { ...A, properties: { ...B.properties, ...A.properties } }] }, { a: TEXT, b: TEXT }, ['a']],
  [{ ...B, anyOf: [A, true] }, { a: TEXT, b: TEXT }, ['b', 'a']],
  [{ oneOf: [kind('x'), kind('y'), kind('x')] }, { kind: { anyOf: [{ const: 'x' }, { const: 'y' }] } }, ['kind']],
  [{ properties: { kind: TEXT }, anyOf: [kind('x')] }, { kind: { allOf: [TEXT, { const: 'x' }] } }, ['kind']],
  [{ anyOf: [{ $ref: '#/definitions/a~1b' }], definitions: { 'a/b': A } }, { a: TEXT }, ['a']],
  [{ allOf: [{ anyOf: [A, B] }] }, { a: TEXT, b: TEXT }, undefined],
  [{ not: A }, {}, undefined],
  [{ $ref: 'https://x/y' }, {}, undefined],
])('alternatives at the top become members and words: %j', (given, properties, required) => {
  const { schema, losses } = written({ description: 'Pick.', ...given })
  expect(schema.type).toBe('object')
  expect(schema.properties).toEqual(properties)
  expect(schema.required).toEqual(required)
  const name = ['anyOf', 'oneOf', 'allOf', 'not', '$ref'].find((keyword) => keyword in given)!
  expect(schema).not.toHaveProperty(name)
  expect(schema.description).toBe(`Pick.\n\n{${name}: ${JSON.stringify(given[name])}}`)
  expect(losses).toEqual([`tools[0] (${name} at the top of the schema became part of its description)`])
})

test('references that lead back, and deep alternatives, end', () => {
  const loop = { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { ...A, allOf: [{ $ref: '#/$defs/a' }] } } }
  expect(written(loop).schema.properties).toEqual({ a: TEXT })
  const nested = (levels: number): object => (levels === 0 ? A : { anyOf: [nested(levels - 1)] })
  expect(written(nested(30)).schema.properties).toEqual({})
  expect(() => written(nested(60))).toThrow(Untranslatable)
})

test('a schema with a hostile name keeps it as a name', () => {
  const { schema } = written({ anyOf: [{ properties: JSON.parse('{"__proto__":{"type":"string"}}') }] })
  expect(Object.keys(schema.properties)).toEqual(['__proto__'])
})
