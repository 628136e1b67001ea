import { afterEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { Snapshots } from './snapshots.ts'

afterEach(() => vi.restoreAllMocks())

test('a list is kept for five minutes after its last page', () => {
  let now = 0
  vi.spyOn(clock, 'now').mockImplementation(() => now)
  const snapshots = new Snapshots()
  snapshots.keep('a', [])
  now = 4 * 60_000
  snapshots.keep('a', snapshots.find('a')!)
  now = 9 * 60_000
  expect(snapshots.find('a')).toEqual([])
  now += 1
  expect(snapshots.find('a')).toBeUndefined()
})

test('the newest hundred lists are kept', () => {
  const snapshots = new Snapshots()
  for (let at = 0; at < 100; at += 1) snapshots.keep(`${at}`, [])
  snapshots.keep('0', [])
  snapshots.keep('100', [])
  expect(['0', '1', '2', '100'].map((key) => snapshots.find(key))).toEqual([[], undefined, [], []])
})
