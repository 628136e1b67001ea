import { expect, test } from 'vitest'
import { LocalTable, MAX_ENTRIES } from './shared-table.ts'

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
