import { expect, test } from 'vitest'
import { list, mapOf, object, optional, secret, secretsIn, text, withoutSecrets } from './index.ts'

const schema = object({
  name: optional(text(), 'Shown.'),
  key: optional(secret(text()), 'Not shown.'),
  users: optional(list(secret(text(), 'after-colon'), { min: 1, max: 9 }), 'Of each the part behind the colon is not.'),
  more: optional(mapOf(object({ key: optional(secret(text()), 'Not shown.') })), 'Any number.'),
})
const VALUE = { name: 'n', key: 'k', users: ['a:b', 'c'], more: { x: { key: 'l', other: 1 } }, unknown: { key: 'm' } }

test('the secrets of a value', () => {
  expect(secretsIn(schema, '', VALUE)).toEqual(['k', 'a:b', 'c', 'l'])
  expect(secretsIn(schema, 'more', VALUE.more)).toEqual(['l'])
  expect(secretsIn(schema, 'no.such.place', VALUE)).toEqual([])
})

test('a copy without secrets; parts without a schema are kept, and the original does not change', () => {
  const shown = withoutSecrets(schema, '', VALUE, '-')
  expect(shown).toEqual({
    name: 'n',
    key: '-',
    users: ['a:-', '-'],
    more: { x: { key: '-', other: 1 } },
    unknown: { key: 'm' },
  })
  expect(VALUE.key).toBe('k')
})

test.each<[path: string, value: unknown, shown: unknown]>([
  ['key', 'k', '-'],
  ['key', { not: 'a text' }, '-'],
  ['users[1]', 'a:b', 'a:-'],
  ['more.x', { key: 'k' }, { key: '-' }],
  ['name.deeper', { key: 'k' }, { key: 'k' }],
  ['no.such.place', { key: 'k' }, { key: 'k' }],
])('at %s', (path, value, shown) => expect(withoutSecrets(schema, path, value, '-')).toEqual(shown))
