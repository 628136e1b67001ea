import { expect, test } from 'vitest'
import { LocalTable } from '#state/shared-table.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { isPinned, notePin } from './tool-pins.ts'

const [a, b] = mcpPlan(['a', 'b']).targets as [never, never]
const digest = (n: number) => String(n).padStart(32, '0')
const FIRST = { accepted: undefined }

test('a tool that changes is told once for each digest, in all workers', () => {
  const one: LocalTable = new LocalTable((entry) => other.add(entry))
  const other: LocalTable = new LocalTable((entry) => one.add(entry))
  const note = (table: LocalTable, n: number) => notePin(table, a, { name: 'x', digest: digest(n) })
  expect([note(one, 1), note(one, 1), note(other, 1)]).toEqual(['new', 'known', 'known'])
  expect([note(other, 2), note(one, 2), note(one, 1), note(other, 2)]).toEqual(['changed', 'known', 'known', 'known'])
  expect(isPinned(one, a, FIRST, { name: 'x', digest: digest(1) })).toBe(true)
  expect(isPinned(other, a, FIRST, { name: 'x', digest: digest(2) })).toBe(false)
  expect(notePin(one, b, { name: 'x', digest: digest(2) })).toBe('new')
})

test('the first digest is kept however often the tool changes', () => {
  const table = new LocalTable()
  for (let n = 0; n < 100; n++) notePin(table, a, { name: 'x', digest: digest(n) })
  expect(isPinned(table, a, FIRST, { name: 'x', digest: digest(0) })).toBe(true)
  expect(isPinned(table, a, FIRST, { name: 'x', digest: digest(99) })).toBe(false)
  expect(notePin(table, a, { name: 'x', digest: digest(98) })).toBe('known')
  expect(notePin(table, a, { name: 'x', digest: digest(50) })).toBe('changed')
})

test('accepted digests replace the first one', () => {
  const table = new LocalTable()
  notePin(table, a, { name: 'x', digest: digest(1) })
  const pinning = { accepted: new Set([digest(2)]) }
  expect(isPinned(table, a, pinning, { name: 'x', digest: digest(1) })).toBe(false)
  expect(isPinned(table, a, pinning, { name: 'x', digest: digest(2) })).toBe(true)
})

test('a target that lists ever more tools does not get rid of the first digests', () => {
  const table = new LocalTable()
  notePin(table, a, { name: 'x', digest: digest(1) })
  for (let n = 1; n < 10_000; n++) notePin(table, a, { name: `${n}`, digest: digest(n) })
  expect(notePin(table, a, { name: 'more', digest: digest(1) })).toBe('unnoted')
  expect(isPinned(table, a, FIRST, { name: 'more', digest: digest(1) })).toBe(false)
  expect(notePin(table, b, { name: 'more', digest: digest(1) })).toBe('new')
  expect(notePin(table, a, { name: 'x', digest: digest(2) })).toBe('changed')
  expect(isPinned(table, a, FIRST, { name: 'x', digest: digest(1) })).toBe(true)
})

test('a tool that is not noted is not pinned', () => {
  expect(isPinned(new LocalTable(), a, FIRST, { name: 'x', digest: digest(1) })).toBe(false)
})
