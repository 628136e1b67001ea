import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { BucketLevels, type SavedBucket } from './bucket-levels.ts'
import { createSlotMemory } from './slots.ts'
import { TokenBucket } from './token-bucket.ts'
import { ValueBuckets } from './value-buckets.ts'
import { createValueMemory, ValueTable } from './value-table.ts'

const MINUTE = { rate: 10, capacity: 15, unitMs: 60_000 }

const { monotonic } = clock
let time = 0

beforeEach(() => {
  time = 1000
  clock.monotonic = () => time
})
afterEach(() => {
  clock.monotonic = monotonic
})

/** A gateway with these levels; buckets are opened when they are used first. */
function gateway(saved: readonly SavedBucket[] = [], elapsedMs = 0) {
  const levels = new BucketLevels(saved, elapsedMs)
  return {
    levels,
    bucket(key: string) {
      const bucket = new TokenBucket(createSlotMemory(1, false), 0, MINUTE)
      levels.opened(key, bucket)
      return bucket
    },
    values(key: string) {
      const shared = new TokenBucket(createSlotMemory(1, false), 0, MINUTE)
      const buckets = new ValueBuckets(new ValueTable(createValueMemory(false, 4)), shared)
      levels.opened(key, shared, buckets)
      return {
        shared,
        left(value: string, used = 0) {
          buckets.select(value)
          buckets.drain(used)
          return buckets.remaining()
        },
      }
    },
  }
}

/** What a gateway saves, as the next one reads it. */
function saved({ levels }: ReturnType<typeof gateway>): SavedBucket[] {
  return JSON.parse(JSON.stringify(levels.list()))
}

test('full buckets are not saved', () => {
  const it = gateway()
  it.bucket('a')
  it.values('b').left('x')
  expect(saved(it)).toEqual([])
})

test('a level is saved with its phase and a hash of its key', () => {
  const it = gateway()
  it.bucket('rateLimit of a "secret"').take(9)
  time += 61_234
  expect(saved(it)).toEqual([])
  it.bucket('other').take(9)
  time += 1234
  const [one, ...others] = saved(it)
  expect(others).toEqual([])
  expect(one).toEqual({
    key: 'd9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa',
    rate: 10,
    capacity: 15,
    unitMs: 60_000,
    phaseMs: 1234,
    level: 6,
  })
})

test.each([
  // time in the unit when it was saved, time until the start, level
  [0, 0, 1],
  [20_000, 39_999, 1],
  [20_000, 40_000, 11],
  [59_999, 60_000, 11],
  [59_999, 60_001, 15],
  [0, 3_600_000, 15],
])('after %d ms of a unit and %d ms without a gateway, a level of 1 is %d', (phaseMs, elapsedMs, level) => {
  const before = gateway()
  before.bucket('a').take(14)
  time += phaseMs
  const document = saved(before)
  time = 7
  const bucket = gateway(document, elapsedMs).bucket('a')
  expect([bucket.remaining(), bucket.phaseMs()]).toEqual([level, (phaseMs + elapsedMs) % 60_000])
})

test('callers find their levels again, and callers without one start full', () => {
  const before = gateway()
  const used = before.values('a')
  used.left('alice', 15)
  used.left('bob', 4)
  used.shared.take(3)
  time += 50_000
  const document = saved(before)
  for (const name of ['alice', 'bob', 'full']) expect(JSON.stringify(document)).not.toContain(name)
  const after = gateway(document, 9999).values('a')
  expect([after.left('alice'), after.left('bob'), after.left('carol'), after.shared.remaining()]).toEqual([
    0, 11, 15, 12,
  ])
  time += 1
  expect([after.left('alice'), after.left('bob'), after.shared.remaining()]).toEqual([10, 15, 15])
})

test('further objects for a bucket that is in use take nothing from the file', () => {
  const before = gateway()
  before.bucket('a').take(14)
  const after = gateway(saved(before))
  after.bucket('a').give(5)
  expect(after.bucket('a').remaining(), 'another memory, as if the limit had been changed and changed back').toBe(15)
})

test('a limit that is not configured yet keeps its level until it would be full', () => {
  const before = gateway()
  before.bucket('a').take(14)
  before.values('b').left('alice', 15)
  const after = gateway(saved(before), 5000)
  time += 50_000
  expect(saved(after)).toMatchObject([
    { phaseMs: 55_000, level: 1 },
    { phaseMs: 55_000, level: 15, values: { levels: [expect.any(Number), expect.any(Number), 0] } },
  ])
  time += 5000
  expect(saved(after)).toMatchObject([
    { level: 11 },
    { values: { levels: [expect.any(Number), expect.any(Number), 10] } },
  ])
  expect(after.bucket('a').remaining()).toBe(11)
  time += 60_000
  expect(saved(after)).toEqual([])
})

test('a bucket that was closed is not saved, and starts full when it is opened again', () => {
  const it = gateway()
  it.bucket('a').take(14)
  it.levels.closed('a')
  expect(saved(it)).toEqual([])
  expect(it.bucket('a').remaining()).toBe(15)
})

test('a limit that has no values any more takes its own level from a run in which it had some', () => {
  const before = gateway()
  const limit = before.values('k')
  limit.left('a', 3)
  limit.shared.drain(5)
  const after = gateway(before.levels.list())
  expect(after.bucket('k').remaining()).toBe(limit.shared.remaining())
})
