import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { createSlotMemory, type SlotMemory } from './slots.ts'
import { TokenBucket, type TokenBucketSettings } from './token-bucket.ts'
import { ValueBuckets } from './value-buckets.ts'
import { createValueMemory, ValueTable } from './value-table.ts'

const SETTINGS: TokenBucketSettings = { rate: 2, capacity: 3, unitMs: 1000 }

const { monotonic } = clock
let time = 0

beforeEach(() => {
  time = 1_000_123.5
  clock.monotonic = () => time
})
afterEach(() => {
  clock.monotonic = monotonic
})

interface Memory {
  readonly slots: SlotMemory
  readonly values: ArrayBufferLike
}

function memoryOf(sets = 64, shared = false): Memory {
  return { slots: createSlotMemory(1, shared), values: createValueMemory(shared, sets) }
}

function bucketsOf(memory = memoryOf(), settings: Partial<TokenBucketSettings> = {}) {
  const buckets = new ValueBuckets(
    new ValueTable(memory.values),
    new TokenBucket(memory.slots, 0, { ...SETTINGS, ...settings }),
  )
  return {
    buckets,
    take(value: string | undefined, count = 1): boolean {
      buckets.select(value)
      return buckets.take(count)
    },
    left(value: string | undefined): number {
      buckets.select(value)
      return buckets.remaining()
    },
    isShared(value: string): boolean {
      buckets.select(value)
      buckets.remaining()
      return buckets.isShared
    },
  }
}

test('each value has a bucket of its own, which starts full', () => {
  const { take, left } = bucketsOf()
  expect([take('a'), take('a'), take('a'), take('a')]).toEqual([true, true, true, false])
  expect([left('a'), left('b')]).toEqual([0, 3])
  expect(take('b', 4)).toBe(false)
  expect(left('b')).toBe(3)
})

test('all buckets are refilled at the same time', () => {
  const { take, left } = bucketsOf()
  take('a', 3)
  time += 600
  take('b', 3)
  time += 399
  expect([left('a'), left('b')]).toEqual([0, 0])
  time += 1
  expect([left('a'), left('b')]).toEqual([2, 2])
})

test('requests without a value share one bucket', () => {
  const { take, left } = bucketsOf()
  expect([take(undefined, 2), take(undefined, 2)]).toEqual([true, false])
  expect([left(undefined), left('')]).toEqual([1, 3])
})

test('returned tokens go to the bucket from which they were taken', () => {
  const { buckets, take, left } = bucketsOf()
  take('a', 2)
  buckets.give(1)
  expect(left('a')).toBe(2)
  take(undefined, 2)
  buckets.give(1)
  expect([left(undefined), left('a')]).toEqual([2, 2])
  take('a')
  buckets.give(100)
  expect(left('a')).toBe(3)
})

test('a charge goes to the bucket of its request, even if another one was selected since', () => {
  const { buckets, left } = bucketsOf()
  buckets.select('a')
  const held = buckets.held()
  buckets.select(undefined)
  const heldShared = buckets.held()
  buckets.select('b')
  held.drain(2)
  heldShared.drain(100)
  expect([left('a'), left('b'), left(undefined)]).toEqual([1, 3, 0])
  held.drain(100)
  expect(left('a')).toBe(0)
})

test('when no bucket can be discarded, new values share one; values with a bucket keep it', () => {
  const { take, left, isShared } = bucketsOf(memoryOf(1))
  for (let i = 0; i < 16; i++) take(`own-${i}`, 3)
  expect([take('late-1', 2), take('late-2', 1), take('late-3')]).toEqual([true, true, false])
  expect([isShared('late-1'), left('late-4'), left(undefined)]).toEqual([true, 0, 0])
  expect(left('own-0')).toBe(0)
  time += 2000
  expect([isShared('late-1'), left('late-1')]).toEqual([false, 3])
})

test('tokens from the shared bucket are returned to it', () => {
  const { buckets, take, left } = bucketsOf(memoryOf(1))
  for (let i = 0; i < 16; i++) take(`own-${i}`, 3)
  take('late', 2)
  buckets.give(2)
  expect(left(undefined)).toBe(3)
})

test('spraying 100,000 values gives no quota back to one that used its own', () => {
  const { take, left } = bucketsOf(memoryOf(4096))
  take('caller', 3)
  let passed = 0
  for (let i = 0; i < 100_000; i++) if (take(`sprayed-${i}`, 3)) passed++
  expect(left('caller')).toBe(0)
  expect(take('caller')).toBe(false)
  // Bounded: one quota for each bucket, and one that all others share.
  expect(passed).toBeLessThanOrEqual(65_536)
  expect(passed).toBeGreaterThan(60_000)
  for (let i = 0; i < 100_000; i++) if (take(`sprayed-${i}`)) passed = Number.NaN
  expect(passed).not.toBeNaN()
})

test('values that were seen once and used nothing up occupy no place', () => {
  const { buckets, take, left } = bucketsOf(memoryOf(1))
  for (let i = 0; i < 1000; i++) {
    buckets.select(`seen-${i}`)
    expect(buckets.remaining()).toBe(3)
  }
  for (let i = 0; i < 15; i++) take(`used-${i}`)
  expect([left('new'), buckets.isShared]).toEqual([3, false])
})

test('whatever is done in whatever order, each value has the level of a bucket that counts one by one', () => {
  const value = fc.constantFrom('a', 'b', 'c', '\ud800', '')
  const act = fc.oneof(
    fc.record({ kind: fc.constant('take' as const), value, count: fc.nat(8) }),
    fc.record({ kind: fc.constant('drain' as const), value, count: fc.nat(8) }),
    fc.record({ kind: fc.constant('wait' as const), value, count: fc.nat(3500) }),
    fc.record({ kind: fc.constant('spray' as const), value, count: fc.nat(40) }),
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.nat(3), fc.array(act, { maxLength: 30 }), (rate, burst, acts) => {
      const capacity = rate + burst
      const start = time
      const { buckets, take, left } = bucketsOf(memoryOf(1), { rate, capacity })
      const levels = new Map(['a', 'b', 'c', '\ud800', ''].map((name) => [name, capacity]))
      let units = 0
      for (const { kind, value: name, count } of acts) {
        const level = levels.get(name)!
        if (kind === 'wait') {
          time += count
          for (; (units + 1) * 1000 <= time - Math.floor(start); units++) {
            for (const [other, before] of levels) levels.set(other, Math.min(capacity, before + rate))
          }
        } else if (kind === 'spray') {
          // Full buckets of other values come and go.
          for (let i = 0; i < count; i++) left(`other-${i}`)
        } else if (kind === 'drain') {
          buckets.select(name)
          buckets.drain(count)
          levels.set(name, Math.max(0, level - count))
        } else {
          expect(take(name, count)).toBe(count <= level)
          if (count <= level) levels.set(name, level - count)
        }
        expect(left(name)).toBe(levels.get(name))
      }
      for (const [name, level] of levels) expect(left(name)).toBe(level)
    }),
  )
})

test('levels are listed without full buckets, and restored with their secret', () => {
  const before = bucketsOf()
  before.take('a', 2)
  before.take('b', 3)
  before.left('full')
  const { secret } = before.buckets
  const levels = before.buckets.levels()
  expect(levels).toHaveLength(6)
  const after = bucketsOf()
  after.buckets.restore(secret, levels)
  expect([after.left('a'), after.left('b'), after.left('full'), after.left(undefined)]).toEqual([1, 0, 3, 3])
  time += 1000
  expect([before, after].map(({ buckets }) => buckets.levels().filter((_, i) => i % 3 === 2))).toEqual([[2], [2]])
})

const THREAD = `
import { parentPort, workerData } from 'node:worker_threads'
const { TokenBucket } = await import(${JSON.stringify(new URL('./token-bucket.ts', import.meta.url).href)})
const { ValueBuckets } = await import(${JSON.stringify(new URL('./value-buckets.ts', import.meta.url).href)})
const { ValueTable } = await import(${JSON.stringify(new URL('./value-table.ts', import.meta.url).href)})
const { words, values, gate, settings, tries, names } = workerData
const buckets = new ValueBuckets(new ValueTable(values), new TokenBucket({ words }, 0, settings))
parentPort.postMessage('ready')
Atomics.wait(gate, 0, 0)
const taken = new Array(names).fill(0)
for (let i = 0; i < tries; i++) {
  const name = (i * 7) % names
  buckets.select('value-' + name)
  if (buckets.take(1)) taken[name]++
}
parentPort.postMessage(taken)
`

/** Threads that take one token of each value at a time, all at once. @returns how many tokens of each value were taken in total */
async function hammer(memory: Memory, threads: number, tries: number, names: number, settings: TokenBucketSettings) {
  new TokenBucket(memory.slots, 0, settings)
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const workerData = { words: memory.slots.words, values: memory.values, gate, settings, tries, names }
  const workers = Array.from(
    { length: threads },
    () => new Worker(THREAD, { eval: true, workerData, execArgv: ['--input-type=module'] }),
  )
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  const results = workers.map((worker) => once(worker, 'message'))
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
  const taken = (await Promise.all(results)).map(([each]) => each as number[])
  await Promise.all(workers.map((worker) => worker.terminate()))
  return Array.from({ length: names }, (_, name) => taken.reduce((total, each) => total + each[name]!, 0))
}

const HOUR: TokenBucketSettings = { rate: 700, capacity: 1000, unitMs: 3_600_000 }

test('threads that take from the same values at the same time get exactly the available tokens', async () => {
  clock.monotonic = monotonic
  const settings = { ...HOUR, capacity: 100_000 }
  expect(await hammer(memoryOf(4096, true), 4, 150_000, 2, settings)).toEqual([100_000, 100_000])
})

test('threads that compete for places give no value more than its own bucket and the shared one', async () => {
  clock.monotonic = monotonic
  const names = 23
  const taken = await hammer(memoryOf(1, true), 4, 46_000, names, HOUR)
  const sorted = taken.toSorted((a, b) => b - a)
  // 16 values have a bucket; some of them may have taken from the shared one before a place was free.
  expect(sorted.reduce((total, each) => total + each, 0)).toBe(17_000)
  expect(sorted[15]).toBe(1000)
})

test('threads that end at any point block no other thread, and refill no quota', async () => {
  clock.monotonic = monotonic
  const memory = memoryOf(1, true)
  new TokenBucket(memory.slots, 0, HOUR)
  const { take, left } = bucketsOf(memory, HOUR)
  take('used', 1000)
  for (let i = 0; i < 8; i++) {
    const gate = new Int32Array(new SharedArrayBuffer(4))
    Atomics.store(gate, 0, 1)
    const workerData = { words: memory.slots.words, values: memory.values, gate, settings: HOUR, tries: 1e9, names: 40 }
    const worker = new Worker(THREAD, { eval: true, workerData, execArgv: ['--input-type=module'] })
    await once(worker, 'message')
    await worker.terminate()
    expect([left('used'), take('used')]).toEqual([0, false])
  }
  for (let i = 0; i < 40; i++) expect(left(`value-${i}`)).toBeLessThanOrEqual(1000)
})
