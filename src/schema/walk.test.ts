import { expect, test } from 'vitest'
import {
  celExpression,
  type DeepReadonly,
  durationOrCel,
  expressionsIn,
  list,
  mapOf,
  object,
  optional,
  type Parsed,
  text,
  walk,
} from './index.ts'

const schema = object({
  name: optional(text(), 'Name.'),
  rules: optional(list(object({ when: optional(celExpression(), 'When.') })), 'Rules.'),
  values: optional(mapOf(celExpression()), 'Values.'),
})

test('walk visits every described part of a value, outer first', () => {
  const value = { name: 'a', rules: [{ when: 'x' }], values: { 'a.b': 'y' }, unknown: { when: 'z' } }
  expect([...walk(schema, value, 'spec')].map(({ path }) => path)).toEqual([
    'spec',
    'spec.name',
    'spec.rules',
    'spec.rules[0]',
    'spec.rules[0].when',
    'spec.values',
    'spec.values[a.b]',
  ])
})

test('walk accepts values of the wrong shape', () => {
  const value = { name: {}, rules: { when: 'x' }, values: ['y'] }
  expect([...walk(schema, value)].map(({ path }) => path)).toEqual(['', 'name', 'rules', 'values'])
})

test('types follow the schema', () => {
  const value: Parsed<typeof schema> = { name: 'a', rules: [{ when: 'x' }], values: { a: 'b' } }
  // @ts-expect-error validated values are readonly
  value.name = 'b'
  // @ts-expect-error and so are their lists
  value.rules?.push({})
  const same: DeepReadonly<{ name?: string }> = value
  expect(same).toBe(value)
})

test('a duration is no expression', () => {
  const either = object({ a: optional(durationOrCel()), b: optional(durationOrCel()), c: optional(celExpression()) })
  expect([...expressionsIn(either, { a: '5s', b: 'x', c: '5s', d: 'y' }, 'spec')]).toEqual([
    { expression: 'x', path: 'spec.b' },
    { expression: '5s', path: 'spec.c' },
  ])
})
