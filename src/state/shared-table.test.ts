import { expect, test } from 'vitest'
import { LocalTable, MAX_ENTRIES, MAX_LENGTH } from './shared-table.ts'

test('a value is known here at once, and elsewhere when it has been added', () => {
  const told: unknown[] = []
  const here = new LocalTable((entry) => told.push(entry))
  const elsewhere = new LocalTable()
  here.set('session', 'a', '1')
  here.set('session', 'a', '2')
  expect(told).toEqual([
    { scope: 'session', key: 'a', value: '1' },
    { scope: 'session', key: 'a', value: '2' },
  ])
  for (const entry of here.entries) elsewhere.add(entry)
  expect([here.get('session', 'a'), elsewhere.get('session', 'a')]).toEqual(['2', '2'])
  expect([elsewhere.get('other', 'a'), elsewhere.get('session', 'b')]).toEqual([undefined, undefined])
})

test('a changed value is not the oldest', () => {
  const table = new LocalTable()
  for (let i = 0; i < MAX_ENTRIES; i++) table.set('x', `${i}`, '')
  table.set('x', '0', 'changed')
  table.set('x', 'new', '')
  expect([table.get('x', '0'), table.get('x', '1')]).toEqual(['changed', undefined])
})

test('values of a scope have a length together, and others are not affected', () => {
  const table = new LocalTable()
  const half = 'v'.repeat(MAX_LENGTH / 2 - 1)
  table.set('other', 'a', '1')
  for (const key of ['a', 'b', 'b']) table.set('x', key, half)
  expect([table.count('x'), table.count('other'), table.count('none')]).toEqual([2, 1, 0])
  table.set('x', 'c', '')
  expect([table.get('x', 'a'), table.get('x', 'b'), table.get('x', 'c')]).toEqual([undefined, half, ''])
  table.set('x', 'd', half)
  expect([table.count('x'), table.get('other', 'a')]).toEqual([2, '1'])
})
