import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { sipHashed } from '#base/sip-hash.ts'
import { createValueMemory, MAX_VALUES, ValueTable } from './value-table.ts'

const { monotonic } = clock
let time = 0

beforeEach(() => {
  time = 5000
  clock.monotonic = () => time
})
afterEach(() => {
  clock.monotonic = monotonic
})

const REFILL = { rate: 10, capacity: 15 }

function hashIn(table: ValueTable, value: string): { low: number; high: number } {
  table.hash(value)
  return { ...sipHashed }
}

test('it counts 65,536 values in about one megabyte', () => {
  expect(MAX_VALUES).toBe(65_536)
  expect(createValueMemory().byteLength).toBe(1_065_024)
})

test('two tables hash one value differently, unless they have the same secret', () => {
  const [one, other] = [new ValueTable(createValueMemory()), new ValueTable(createValueMemory())]
  expect(hashIn(one, 'alice')).not.toEqual(hashIn(other, 'alice'))
  other.secret = one.secret
  expect(hashIn(one, 'alice')).toEqual(hashIn(other, 'alice'))
  expect(hashIn(one, 'alice')).not.toEqual(hashIn(one, 'alicf'))
})

test('values are spread over all sets', () => {
  const table = new ValueTable(createValueMemory())
  const sets = new Map<number, number>()
  for (let i = 0; i < MAX_VALUES; i++) {
    const set = table.setOf(hashIn(table, `10.${i >> 8}.0.${i & 255}`).low)
    sets.set(set, (sets.get(set) ?? 0) + 1)
  }
  expect(sets.size).toBe(4096)
  expect(Math.max(...sets.values())).toBeLessThan(50)
})

test('a hash keeps its place and its level', () => {
  const table = new ValueTable(createValueMemory(false, 1))
  const place = table.add(0, 7, 1, 3, REFILL)
  expect(table.find(0, 7, 1)).toBe(place)
  expect([table.find(0, 7, 3), table.find(0, 8, 1)]).toEqual([0, 0])
  expect(table.level(place, 3, REFILL)).toBe(15)
  table.write(place, 3, 2)
  expect([3, 4, 5, 9].map((unit) => table.level(place, unit, REFILL))).toEqual([2, 12, 15, 15])
  expect(table.level(place, 2, REFILL), 'a thread that read the clock earlier').toBe(2)
  table.write(place, 2, 1)
  expect([3, 4].map((unit) => table.level(place, unit, REFILL))).toEqual([1, 11])
})

test('only full buckets are discarded, and all of them eventually', () => {
  const table = new ValueTable(createValueMemory(false, 1))
  for (let i = 0; i < 16; i++) table.write(table.add(0, i, 1, 0, REFILL), 0, i === 9 ? 15 : 14)
  const taken = table.add(0, 100, 1, 0, REFILL)
  expect([table.find(0, 9, 1), table.find(0, 100, 1)]).toEqual([0, taken])
  table.write(taken, 0, 0)
  expect(table.add(0, 101, 1, 0, REFILL)).toBe(0)
  const later = table.add(0, 101, 1, 1, REFILL)
  expect(later).not.toBe(0)
  expect(table.find(0, 100, 1), 'has 10 of 15').toBe(taken)
})

test('each visits every bucket, and leaves no lock', () => {
  const table = new ValueTable(createValueMemory(false, 4))
  for (const [low, high] of [
    [0, 1],
    [2, 3],
    [5, 5],
  ] as const) {
    table.add(table.setOf(low), low, high, 0, REFILL)
  }
  const seen: number[][] = []
  table.each((low, high, place) => seen.push([low, high, table.find(table.setOf(low), low, high) - place]))
  expect(seen).toEqual([
    [0, 1, 0],
    [5, 5, 0],
    [2, 3, 0],
  ])
  table.unlock(0, table.lock(0))
  expect(() => new ValueTable(createValueMemory(false, 4)).each(() => expect.fail('empty'))).not.toThrow()
})

test('a lock of a worker that died is taken over; sets have separate locks', () => {
  const table = new ValueTable(createValueMemory(true, 2))
  const dead = table.lock(0)
  table.unlock(1, table.lock(1))
  let waits = 0
  clock.monotonic = () => {
    waits++
    // Spinning takes no time, and each pause some.
    time += waits > 1000 ? 50 : 0
    return time
  }
  const mark = table.lock(0)
  expect(waits).toBeGreaterThan(1000)
  expect(time).toBeGreaterThanOrEqual(5200)
  table.unlock(0, dead)
  const held = new Int32Array(1)
  clock.monotonic = () => {
    held[0]!++
    if (held[0]! > 1001) table.unlock(0, mark)
    return time
  }
  expect(table.lock(0), 'the one that died released nothing').toBe(mark)
  expect(held[0]).toBeGreaterThan(1001)
})

test('the time of a lock may wrap around', () => {
  const table = new ValueTable(createValueMemory(true, 1))
  time = 2 ** 30 - 10
  const old = table.lock(0)
  time += 300
  const mark = table.lock(0)
  expect(mark).not.toBe(old)
  table.unlock(0, mark)
  table.unlock(0, table.lock(0))
})
