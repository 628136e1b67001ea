import { expect, test } from 'vitest'
import { readTexts } from './read-texts.ts'
import { runsOf } from './testing.ts'
import { compileTable } from './text-table.ts'
import { FIXED, ID, TEXT } from './treatments.ts'

const TABLE = compileTable({
  first: [],
  runs: {},
  places: { 'a.*.b': TEXT, 'a.*.c': FIXED, 'd.e': ID },
  anywhere: { id: ID },
})
const read = (body: unknown) => runsOf(body, (document) => readTexts(document, TABLE))

test('several paths go through the members that a client named', () => {
  expect(read({ a: { x: { b: 'one', c: 'two' } } })).toEqual([
    ['user', 'a{0}.b: one'],
    ['(user)', 'a{0}:name: x!', 'a{0}.c: two!'],
  ])
})

test.each([
  ['d.e', { d: { e: ['looks-like-an-id', { f: 'so-does-this' }] } }],
  ['a member of that name', { d: { id: ['looks-like-an-id'] } }],
])('a list in the place of an id is checked: %s', (_, body) => {
  const texts = read(body).flat().join('\n')
  expect(texts).toContain('looks-like-an-id')
  expect(texts.includes('so-does-this')).toBe(JSON.stringify(body).includes('so-does-this'))
})

test('an id is not', () => {
  expect(read({ d: { e: 'looks-like-an-id', id: 'x-1' } })).toEqual([])
})
