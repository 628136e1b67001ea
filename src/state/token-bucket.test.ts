import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { verifies } from '#test/support/verifies.ts'
import { createSlotMemory } from './slots.ts'
import { TokenBucket, type TokenBucketSettings } from './token-bucket.ts'

const SETTINGS: TokenBucketSettings = { rate: 10, capacity: 15, unitMs: 1000 }
const START = 1_800_000_000_123

const { monotonic } = clock
let time = START

beforeEach(() => {
  time = START
  clock.monotonic = () => time
})
afterEach(() => {
  clock.monotonic = monotonic
})

function bucket(settings: Partial<TokenBucketSettings> = {}, memory = createSlotMemory(1, false)): TokenBucket {
  return new TokenBucket(memory, 0, { ...SETTINGS, ...settings })
}

test('it starts full', () => {
  expect(bucket().remaining()).toBe(15)
})

verifies(
  'traffic.rateLimit.local/burst',
  'rate and burst together are available at once, then one rate per unit',
  () => {
    const limit = bucket()
    expect(limit.take(15)).toBe(true)
    expect(limit.take(1)).toBe(false)
    time += 1000
    expect(limit.take(10)).toBe(true)
    expect(limit.take(1)).toBe(false)
  },
)

test('all or nothing is taken', () => {
  const limit = bucket()
  expect(limit.take(16)).toBe(false)
  expect(limit.remaining()).toBe(15)
  expect(limit.take(15)).toBe(true)
  expect(limit.remaining()).toBe(0)
})

test.each([
  // milliseconds after the start, tokens of an emptied bucket
  [0, 0],
  [999, 0],
  [1000, 10],
  [1999, 10],
  [2000, 15],
  [60_000, 15],
  [366 * 24 * 3_600_000, 15],
])('%d ms after the start an emptied bucket holds %d: whole units only, up to the capacity', (afterMs, tokens) => {
  const limit = bucket()
  limit.take(15)
  time += afterMs
  expect(limit.remaining()).toBe(tokens)
})

test('units are counted from the start of the bucket, not from the last refill', () => {
  const limit = bucket({ capacity: 10 })
  limit.take(10)
  time += 1900
  expect(limit.remaining()).toBe(10)
  limit.take(10)
  time += 100
  expect(limit.remaining()).toBe(10)
})

test('what is left over adds to the refill', () => {
  const limit = bucket()
  limit.take(12)
  time += 1000
  expect(limit.remaining()).toBe(13)
})

test('a later charge never makes the level negative', () => {
  const limit = bucket()
  limit.drain(9)
  expect(limit.remaining()).toBe(6)
  limit.drain(100)
  expect(limit.remaining()).toBe(0)
  time += 1000
  expect(limit.remaining()).toBe(10)
})

test('taken tokens can be returned, up to the capacity', () => {
  const limit = bucket()
  limit.take(5)
  limit.give(3)
  expect(limit.remaining()).toBe(13)
  limit.give(100)
  expect(limit.remaining()).toBe(15)
})

test.each([
  [0, 60],
  [1, 60],
  [999, 60],
  [1000, 59],
  [1001, 59],
  [59_000, 1],
  [59_999, 1],
  [60_000, 60],
])('%d ms after the start the next tokens come in %d whole seconds', (afterMs, seconds) => {
  const limit = bucket({ unitMs: 60_000 })
  time += afterMs
  limit.remaining()
  // Only the calls that look at the level read the time.
  time += 5000
  expect(Math.ceil(limit.resetMs() / 1000)).toBe(seconds)
})

test('a limit beyond the range of a word is a very high limit', () => {
  const limit = bucket({ rate: 3_000_000_000, capacity: 5_000_000_000 })
  expect(limit.remaining()).toBe(2_147_483_647)
  expect(limit.take(1)).toBe(true)
  time += 1000
  expect(limit.remaining()).toBe(2_147_483_647)
})

test('a step of the wall clock neither adds nor delays tokens', () => {
  const { now } = clock
  onTestFinished(() => {
    clock.now = now
  })
  for (const stepMs of [3_600_000, -3_600_000]) {
    clock.now = () => START
    const limit = bucket()
    limit.take(15)
    clock.now = () => START + stepMs
    expect(limit.remaining()).toBe(0)
    time += 1000
    expect(limit.remaining()).toBe(10)
  }
})

test.each([
  // time in the unit, then milliseconds until the next tokens
  [0, 1000],
  [400, 600],
  [999, 1],
])('a restored bucket has its level, and continues its unit after %d ms', (phaseMs, nextMs) => {
  const memory = createSlotMemory(1, false)
  // The process is younger than the unit.
  time = 100
  const limit = bucket({}, memory)
  limit.restore(3, phaseMs)
  const other = bucket({}, memory)
  expect([limit.remaining(), other.remaining(), other.phaseMs()]).toEqual([3, 3, phaseMs])
  time += nextMs - 1
  expect([limit.remaining(), other.remaining()]).toEqual([3, 3])
  time += 1
  expect([limit.remaining(), other.remaining()]).toEqual([13, 13])
})

test('all threads of a process have one monotonic clock', async () => {
  clock.monotonic = monotonic
  const before = clock.monotonic()
  const worker = new Worker('require("node:worker_threads").parentPort.postMessage(performance.now())', { eval: true })
  const [there] = (await once(worker, 'message')) as [number]
  await worker.terminate()
  expect(there).toBeGreaterThanOrEqual(before)
  expect(there).toBeLessThanOrEqual(clock.monotonic())
})

verifies('traffic.rateLimit.local/per-instance', 'two views of one slot are one bucket', () => {
  const memory = createSlotMemory(1)
  const [one, other] = [bucket({}, memory), bucket({}, memory)]
  expect(one.take(10)).toBe(true)
  expect(other.remaining()).toBe(5)
  expect(other.take(6)).toBe(false)
  time += 1000
  expect([other.remaining(), one.remaining()]).toEqual([15, 15])
})

test('a view that is made later does not fill the bucket again', () => {
  const memory = createSlotMemory(1)
  bucket({}, memory).take(15)
  time += 500
  const later = bucket({}, memory)
  expect(later.remaining()).toBe(0)
  time += 500
  expect(later.remaining()).toBe(10)
})

test('slots beside it are another bucket', () => {
  const memory = createSlotMemory(3, false)
  const [a, b] = [new TokenBucket(memory, 1, SETTINGS), new TokenBucket(memory, 2, SETTINGS)]
  a.take(15)
  expect([a.remaining(), b.remaining()]).toEqual([0, 15])
})

test('whatever is done in whatever order, the level is that of a bucket that counts one by one', () => {
  const act = fc.oneof(
    fc.record({ kind: fc.constant('take' as const), count: fc.nat(20) }),
    fc.record({ kind: fc.constant('drain' as const), count: fc.nat(20) }),
    fc.record({ kind: fc.constant('wait' as const), count: fc.nat(3500) }),
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.nat(6), fc.array(act), (rate, burst, acts) => {
      time = START
      const limit = bucket({ rate, capacity: rate + burst })
      let level = rate + burst
      let units = 0
      for (const { kind, count } of acts) {
        if (kind === 'wait') {
          time += count
          for (; (units + 1) * 1000 <= time - START; units++) level = Math.min(rate + burst, level + rate)
        } else if (kind === 'drain') {
          limit.drain(count)
          level = Math.max(0, level - count)
        } else {
          expect(limit.take(count)).toBe(count <= level)
          if (count <= level) level -= count
        }
        expect(limit.remaining()).toBe(level)
      }
    }),
  )
})

const THREAD = `
import { parentPort, workerData } from 'node:worker_threads'
import { TokenBucket } from ${JSON.stringify(new URL('./token-bucket.ts', import.meta.url).href)}
const { words, gate, settings, tries } = workerData
const bucket = new TokenBucket({ words }, 0, settings)
parentPort.postMessage('ready')
Atomics.wait(gate, 0, 0)
let taken = 0
for (let i = 0; i < tries; i++) if (bucket.take(1)) taken++
parentPort.postMessage(taken)
`

/** Threads that take one token at a time, all at once. @returns how many each one got */
async function hammer(threads: number, tries: number, settings: TokenBucketSettings): Promise<number[]> {
  const memory = createSlotMemory(1)
  new TokenBucket(memory, 0, settings)
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const workers = Array.from(
    { length: threads },
    () =>
      new Worker(THREAD, {
        eval: true,
        workerData: { words: memory.words, gate, settings, tries },
        execArgv: ['--input-type=module'],
      }),
  )
  const next = (worker: Worker) =>
    new Promise<unknown>((resolve, reject) => worker.once('message', resolve).once('error', reject))
  await Promise.all(workers.map(next))
  const results = workers.map(next)
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
  const taken = (await Promise.all(results)) as number[]
  await Promise.all(workers.map((worker) => worker.terminate()))
  return taken
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)

test('threads that take at the same time get exactly the available tokens', async () => {
  clock.monotonic = monotonic
  const hour = { rate: 20_000, capacity: 30_000, unitMs: 3_600_000 }
  expect(sum(await hammer(4, 20_000, hour))).toBe(30_000)
})
