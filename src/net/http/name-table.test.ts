import { expect, test } from 'vitest'
import { NameTable } from './name-table.ts'

const TABLE = new NameTable(['te', 'x-a', 'x-b', 'content-type'])

test.each([
  ['te', true],
  ['x-b', true],
  ['x_b', true],
  ['content-type', true],
  ['content_type', true],
  ['', false],
  ['t', false],
  ['x-c', false],
  ['content-types', false],
  ['a-name-that-is-longer-than-all', false],
])('a table has the name %j: %s', (name, has) => {
  expect(TABLE.hasSame(name)).toBe(has)
  expect(TABLE.hasPart(`:${name.toUpperCase()}:`, 1, 1 + name.length)).toBe(has)
})

test('a table without names has none', () => {
  const empty = new NameTable([])
  expect([empty.hasSame(''), empty.hasSame('te'), empty.hasPart('te', 0, 2)]).toEqual([false, false, false])
})
