import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { verifies } from '#test/support/verifies.ts'
import { EndpointHealth, type Eviction, type EvictionSettings, readEndpointState } from './endpoint-health.ts'
import { buffersOf, createSlotMemory, openSlotMemory } from './slots.ts'

const { now } = clock
let time = 0

beforeEach(() => {
  time = 1_800_000_000_123
  clock.now = () => time
})
afterEach(() => {
  clock.now = now
})

const EVICTION: EvictionSettings = {
  durationMs: 3000,
  restoreHealth: undefined,
  consecutiveFailures: undefined,
  healthThreshold: undefined,
}

/** An endpoint with an eviction policy of these settings; without an argument there is none. */
function endpoint(eviction?: Partial<EvictionSettings>, memory = createSlotMemory(1, false)): EndpointHealth {
  return new EndpointHealth(memory, 0, eviction === undefined ? undefined : { ...EVICTION, ...eviction })
}

/** `-` an unhealthy answer, `+` a healthy one. @returns the time of the eviction that each one brought, in milliseconds */
function record(health: EndpointHealth, answers: string): (number | undefined)[] {
  return [...answers].map((answer) => {
    if (answer === '-') return health.recordUnhealthy(503)
    health.recordHealthy(10)
    return undefined
  })
}

/** How many answers it took; undefined when none evicted. */
function evictedAfter(eviction: Partial<EvictionSettings> | undefined, answers: string): number | undefined {
  const at = record(endpoint(eviction), answers).findIndex((timeMs) => timeMs !== undefined)
  return at < 0 ? undefined : at + 1
}

test('an endpoint starts healthy and in service', () => {
  const health = endpoint({})
  expect([health.health, health.evicted, health.score]).toEqual([1, false, 1])
})

verifies(
  'health/default-condition-lowers-score',
  'an unhealthy answer lowers the score; healthy ones raise it again',
  () => {
    const health = endpoint()
    record(health, '-')
    expect(health.health).toBeCloseTo(0.7, 6)
    record(health, '-')
    expect(health.health).toBeCloseTo(0.49, 6)
    expect(health.score).toBe(health.health)
    health.recordHealthy(0)
    expect(health.health).toBeCloseTo(0.3 + 0.7 * 0.49, 6)
  },
)

verifies('health/default-condition-no-eviction', 'without an eviction policy nothing is ever evicted', () => {
  const health = endpoint()
  expect(record(health, '-'.repeat(1000))).toEqual(Array(1000).fill(undefined))
  expect(health.evicted).toBe(false)
})

verifies('health/evict-consecutive-failures', 'so many unhealthy answers in a row evict', () => {
  expect(evictedAfter({ consecutiveFailures: 3 }, '-----')).toBe(3)
  expect(evictedAfter({ consecutiveFailures: 3 }, '--+--+--+')).toBeUndefined()
  expect(evictedAfter({ consecutiveFailures: 3 }, '--+---')).toBe(6)
  expect(evictedAfter({ consecutiveFailures: 3 }, '-+---')).toBe(5)
  expect(evictedAfter({ consecutiveFailures: 1 }, '-')).toBe(1)
})

test('0 consecutive failures: never by count', () => {
  expect(evictedAfter({ consecutiveFailures: 0 }, '-'.repeat(100))).toBeUndefined()
})

verifies('health/evict-health-threshold', 'health below the threshold after the answer evicts', () => {
  // 1, 0.7, 0.49, 0.343, 0.2401
  expect(evictedAfter({ healthThreshold: 0.75 }, '----')).toBe(1)
  expect(evictedAfter({ healthThreshold: 0.7 }, '----')).toBe(2)
  expect(evictedAfter({ healthThreshold: 0.5 }, '----')).toBe(2)
  expect(evictedAfter({ healthThreshold: 0.25 }, '----')).toBe(4)
  expect(evictedAfter({ healthThreshold: 0 }, '-'.repeat(100))).toBeUndefined()
  expect(evictedAfter({ healthThreshold: 1 }, '+++-')).toBe(4)
})

verifies('health/evict-either', 'with both set either one is enough', () => {
  expect(evictedAfter({ consecutiveFailures: 2, healthThreshold: 0.1 }, '-----')).toBe(2)
  expect(evictedAfter({ consecutiveFailures: 5, healthThreshold: 0.5 }, '-----')).toBe(2)
  expect(evictedAfter({ consecutiveFailures: 0, healthThreshold: 0.5 }, '-----')).toBe(2)
})

verifies('health/evict-neither-set', 'with neither set one unhealthy answer evicts', () => {
  expect(evictedAfter({}, '-')).toBe(1)
  expect(evictedAfter({}, '+++')).toBeUndefined()
})

verifies('health/evict-ends', 'an eviction ends when its time has passed', () => {
  const health = endpoint({})
  expect(record(health, '-')).toEqual([3000])
  expect(health.evicted).toBe(true)
  time += 2999
  expect(health.evicted).toBe(true)
  time += 1
  expect(health.evicted).toBe(false)
  expect(health.evicted).toBe(false)
})

test('an endpoint that another thread returns to service at the same moment is in service', () => {
  const memory = createSlotMemory(1, false)
  const [health, other] = [endpoint({}, memory), endpoint({}, memory)]
  record(health, '-')
  time += 3000
  let returned = false
  clock.now = () => {
    if (!returned) {
      returned = true
      expect(other.evicted).toBe(false)
    }
    return time
  }
  expect(health.evicted).toBe(false)
  expect(memory.words[3]).toBe(2)
})

verifies('health/evict-duration-multiplied', 'each further eviction lasts one duration longer', () => {
  const health = endpoint({})
  const times: (number | undefined)[] = []
  for (let i = 0; i < 4; i++) {
    times.push(...record(health, '-'))
    time += times.at(-1)!
  }
  expect(times).toEqual([3000, 6000, 9000, 12_000])
})

test.each([
  // served after the first return, the next eviction
  [0, 6000],
  [1, 6000],
  [14_999, 6000],
  [15_000, 3000],
  [1_000_000_000, 3000],
])('after %d ms in service the next eviction lasts %d ms: five times the last one forget it', (servedMs, next) => {
  for (const answers of ['-', '+-', '+++++-']) {
    const health = endpoint({})
    record(health, '-')
    time += 3000 + servedMs
    expect(record(health, answers).at(-1)).toBe(next)
  }
})

test('the time until evictions are forgotten depends on the last eviction', () => {
  const health = endpoint({})
  record(health, '-')
  time += 3000
  expect(record(health, '-')).toEqual([6000])
  time += 6000 + 29_999
  expect(record(health, '+-')).toEqual([undefined, 9000])
  time += 9000 + 45_000
  expect(record(health, '-')).toEqual([3000])
})

test('the last eviction counts as long as it was, whichever route evicted', () => {
  const memory = createSlotMemory(1, false)
  record(endpoint({ durationMs: 60_000 }, memory), '-')
  time += 60_000 + 299_999
  expect(record(endpoint({ durationMs: 1000 }, memory), '-')).toEqual([2000])
})

test('an unhealthy answer during an eviction neither prolongs nor counts it', () => {
  const health = endpoint({})
  expect(record(health, '---')).toEqual([3000, undefined, undefined])
  time += 3000
  expect(health.evicted).toBe(false)
  expect(record(health, '-')).toEqual([6000])
})

test('answers during an eviction change neither its end nor the health that was held at its beginning', () => {
  const health = endpoint({})
  record(health, '-+-+--')
  expect(health.evicted).toBe(true)
  expect(health.health).toBeCloseTo(0.7, 6)
  time += 3000
  expect(record(health, '-')).toEqual([6000])
})

test('the count of failures outlives an eviction: one more failure evicts again', () => {
  const health = endpoint({ consecutiveFailures: 2 })
  expect(record(health, '--')).toEqual([undefined, 3000])
  time += 3000
  expect(record(health, '-')).toEqual([6000])
})

test('a healthy response in service resets the count of failures, not that of evictions', () => {
  const health = endpoint({ consecutiveFailures: 2 })
  record(health, '--')
  time += 3000
  expect(record(health, '+-')).toEqual([undefined, undefined])
  expect(record(health, '-')).toEqual([6000])
})

verifies('health/return-restore-health', 'an endpoint returns with restoreHealth', () => {
  for (const restoreHealth of [0, 0.4, 1]) {
    const health = endpoint({ restoreHealth })
    record(health, '-')
    expect(health.health).toBeCloseTo(0.7, 6)
    time += 3000
    expect(health.evicted).toBe(false)
    expect(health.health).toBe(restoreHealth)
  }
})

verifies('health/return-held-health', 'without it an endpoint returns with the health that it had', () => {
  const health = endpoint({})
  record(health, '-')
  time += 3000
  expect(health.evicted).toBe(false)
  expect(health.health).toBeCloseTo(0.7, 6)
})

test.each([
  // restoreHealth, answers, health
  [0, '+', 0.3],
  [0, '++', 0.51],
  [0, '+++', 0.657],
  [0, '-', 0],
  [0, '-+', 0.3],
  [0.5, '+', 0.65],
  [0.5, '-', 0.35],
  [1, '+', 1],
  [1, '-', 0.7],
])('from a health of %d the answers %s make %d', (restoreHealth, answers, expected) => {
  const memory = createSlotMemory(1, false)
  record(endpoint({ restoreHealth }, memory), '-')
  time += 3000
  expect(endpoint({ restoreHealth }, memory).evicted).toBe(false)
  const health = endpoint(undefined, memory)
  expect(health.health).toBe(restoreHealth)
  record(health, answers)
  expect(health.health).toBeCloseTo(expected, 5)
})

test('no row of answers takes health or score out of bounds', () => {
  const health = endpoint()
  for (const answers of ['-'.repeat(200), '+'.repeat(200), '-+'.repeat(100)]) {
    record(health, answers)
    expect(health.health).toBeGreaterThanOrEqual(0)
    expect(health.health).toBeLessThanOrEqual(1)
    expect(health.score).toBeGreaterThanOrEqual(0)
  }
})

test('the counts of failures and evictions stop at the maximum of a word', () => {
  const memory = createSlotMemory(1, false)
  memory.words[1] = 2 ** 31 - 1
  memory.words[4] = 2 ** 31 - 1
  memory.words[5] = 1
  memory.ends[3] = BigInt(time)
  const health = endpoint({ consecutiveFailures: 9 }, memory)
  expect(record(health, '-')).toEqual([3000 * (2 ** 31 - 1)])
  expect(memory.words.slice(0, 6)).toEqual(Int32Array.of(300_000, 2 ** 31 - 1, 0, 1, 2 ** 31 - 1, 2 ** 31 - 1))
  expect(health.evicted).toBe(true)
  record(health, '-')
  expect(memory.words[1]).toBe(2 ** 31 - 1)
})

test('each fact has words of its own, and every eviction and return another phase', () => {
  const memory = createSlotMemory(1, false)
  const health = endpoint({}, memory)
  health.recordHealthy(0.001)
  expect(memory.words.slice(0, 6)).toEqual(Int32Array.of(0, 0, 1, 0, 0, 0))
  expect(health.evicted).toBe(false)
  health.recordUnhealthy(503)
  expect(memory.words.slice(0, 6)).toEqual(Int32Array.of(300_000, 1, 1, 1, 1, 3000))
  expect(memory.ends[3]).toBe(BigInt(time + 3000))
  time += 3000
  expect(health.evicted).toBe(false)
  expect(memory.words.slice(0, 6)).toEqual(Int32Array.of(300_000, 1, 1, 2, 1, 3000))
})

test('the phase may exceed the maximum of a word', () => {
  const memory = createSlotMemory(1, false)
  memory.words[3] = 2 ** 31 - 2
  const health = endpoint({}, memory)
  for (let i = 0; i < 4; i++) {
    record(health, '-')
    expect(health.evicted).toBe(true)
    time += 1_000_000
    expect(health.evicted).toBe(false)
  }
})

test('requests in flight count before the first response, too', () => {
  const health = endpoint()
  expect(health.score).toBe(1)
  for (let i = 0; i < 100; i++) health.begin()
  expect(health.score).toBeCloseTo(1 / 1.1, 6)
})

test('after an eviction the share rises from a tenth to the whole, over the time of the eviction', () => {
  const health = endpoint({})
  expect(health.share).toBe(1)
  record(health, '-')
  expect(health.share).toBe(1)
  time += 3000
  expect([health.evicted, health.share]).toEqual([false, 0.1])
  time += 600
  expect(health.share).toBeCloseTo(0.2, 6)
  time += 2399
  expect(health.share).toBeCloseTo(2999 / 3000, 6)
  for (const later of [1, 3000, 1_000_000]) {
    time += later
    expect(health.share).toBe(1)
  }
  record(health, '-')
  time += 3000 + 1500
  expect(health.share).toBeCloseTo(0.5, 6)
})

test('the share of an endpoint is reduced for at most a minute', () => {
  const health = endpoint({ durationMs: 3_600_000 })
  record(health, '-')
  time += 3_600_000 + 30_000
  expect(health.share).toBeCloseTo(0.5, 6)
  time += 30_000
  expect(health.share).toBe(1)
})

test('the score falls with latency and with the number of requests that wait', () => {
  const health = endpoint()
  health.recordHealthy(1000)
  expect(health.score).toBeCloseTo(1 / 2, 6)
  for (let i = 0; i < 10; i++) health.begin()
  expect(health.score).toBeCloseTo(1 / 3, 6)
  for (let i = 0; i < 10; i++) health.end()
  expect(health.score).toBeCloseTo(1 / 2, 6)
  health.recordHealthy(2000)
  expect(health.score).toBeCloseTo(1 / (1 + 0.3 * 2 + 0.7), 6)
})

test('only answers that say so move latency, and a very slow one does not overflow', () => {
  const health = endpoint()
  health.recordHealthy(1000)
  for (let i = 0; i < 50; i++) {
    record(health, '-')
    health.recordHealthy(undefined)
  }
  expect(health.health / health.score).toBeCloseTo(2, 6)
  health.recordHealthy(3_600_000_000)
  expect(health.score).toBeGreaterThan(0)
})

/** Two endpoints, the second one with latency 1 s, as each of two workers and the main thread see them. */
function threeThreads() {
  const main = createSlotMemory(2, true, 3)
  const [one, other] = [0, 1].map((place) => openSlotMemory(buffersOf(main), place))
  const healthIn = (memory = main) => new EndpointHealth(memory, 1, undefined)
  healthIn().recordHealthy(1000)
  return { main, one: healthIn(one), other: healthIn(other), healthIn }
}

test.each([
  // in flight in each worker and the main thread, 1 / score: 2 and a tenth for each request
  [[0, 0, 0], 2],
  [[10, 0, 0], 3],
  [[0, 10, 0], 3],
  [[0, 0, 10], 3],
  [[10, 20, 30], 8],
])('the score depends on the requests in flight of all threads: %j', (counts, expected) => {
  const { one, other, healthIn } = threeThreads()
  const all = [one, other, healthIn()]
  for (const [i, health] of all.entries()) for (let n = 0; n < counts[i]!; n++) health.begin()
  for (const { score } of all) expect(1 / score).toBeCloseTo(expected, 6)
  for (const [i, health] of all.entries()) for (let n = 0; n < counts[i]!; n++) health.end()
  for (const { score } of all) expect(1 / score).toBeCloseTo(2, 6)
})

test('the requests in flight at one endpoint do not count for another one', () => {
  const { main, one } = threeThreads()
  const first = new EndpointHealth(main, 0, undefined)
  for (let i = 0; i < 10; i++) one.begin()
  expect([first.score, 1 / one.score]).toEqual([1, expect.closeTo(3, 6)])
})

test('what a worker had in flight when it died does not count, once another one has its place', () => {
  const { main, one, other, healthIn } = threeThreads()
  for (let i = 0; i < 10; i++) one.begin()
  for (let i = 0; i < 20; i++) other.begin()
  const replacement = healthIn(openSlotMemory(buffersOf(main), 0))
  expect(1 / replacement.score).toBeCloseTo(4, 6)
  expect(1 / other.score).toBeCloseTo(4, 6)
  replacement.begin()
  replacement.end()
  for (let i = 0; i < 20; i++) other.end()
  expect(1 / replacement.score).toBeCloseTo(2, 6)
})

test('an endpoint returns with the health that the settings that evicted it say, whichever route notices', () => {
  const memory = createSlotMemory(1, false)
  record(endpoint({ restoreHealth: 0.4 }, memory), '-')
  time += 3000
  expect([endpoint(undefined, memory).evicted, endpoint({}, memory).health]).toEqual([false, 0.4])
  record(endpoint({}, memory), '-')
  time += 6000
  expect([endpoint({ restoreHealth: 1 }, memory).evicted, endpoint({}, memory).health]).toEqual([
    false,
    expect.closeTo(0.28, 6),
  ])
})

test('all workers and routes see one state, each with its own settings', () => {
  const memory = createSlotMemory(1)
  const [one, other, without] = [
    endpoint({}, memory),
    endpoint({ consecutiveFailures: 9 }, memory),
    endpoint(undefined, memory),
  ]
  one.recordUnhealthy(503)
  expect([one.evicted, other.evicted, without.evicted]).toEqual([true, true, true])
  expect(other.health).toBe(one.health)
  time += 3000
  expect([without.evicted, one.evicted]).toEqual([false, false])
})

test.each([false, true])(
  'a route that never evicts counts for those that do, failures and healthy answers; alone: %s',
  (alone) => {
    const memory = createSlotMemory(1, false)
    const evicting = new EndpointHealth(memory, 0, { ...EVICTION, consecutiveFailures: 2 }, alone)
    const without = new EndpointHealth(memory, 0, undefined, alone)
    record(without, '-+')
    expect(without.health).toBeCloseTo(0.79, 6)
    expect(evicting.recordUnhealthy(503)).toBeUndefined()
    without.recordUnhealthy(503)
    expect(evicting.recordUnhealthy(503)).toBe(3000)
  },
)

test('a view that is made later keeps the state', () => {
  const memory = createSlotMemory(1, false)
  record(endpoint({}, memory), '-')
  const later = endpoint({}, memory)
  expect([later.evicted, later.health.toFixed(2)]).toEqual([true, '0.70'])
})

test('an endpoint that is alone keeps nothing that only a choice needs, and is evicted like others', () => {
  const memory = createSlotMemory(1, false)
  const evicted = new EndpointHealth(memory, 0, { ...EVICTION, consecutiveFailures: 2 }, true)
  evicted.begin()
  evicted.recordHealthy(5000)
  expect([evicted.score, memory.inFlight[0]]).toEqual([1, 0])
  evicted.end()
  expect(memory.inFlight[0]).toBe(0)
  expect(record(evicted, '-+--')).toEqual([undefined, undefined, undefined, 3000])
  expect(evicted.evicted).toBe(true)

  const plain = new EndpointHealth(createSlotMemory(1, false), 0, undefined, true)
  plain.recordUnhealthy(503)
  plain.recordHealthy(5000)
  expect(plain.health).toBeCloseTo(0.79, 6)
  expect(plain.score).toBe(plain.health)
})

const THREAD = `
import { parentPort, workerData } from 'node:worker_threads'
import { EndpointHealth } from ${JSON.stringify(new URL('./endpoint-health.ts', import.meta.url).href)}
import { openSlotMemory } from ${JSON.stringify(new URL('./slots.ts', import.meta.url).href)}
const { buffers, gate, settings, threads, slots } = workerData
const memory = openSlotMemory(buffers, 0)
let evictions = 0
let reported = 0
for (let slot = 0; slot < slots; slot++) {
  const health = new EndpointHealth(memory, slot, settings, false, () => reported++)
  const all = (slot + 1) * threads
  if (Atomics.add(gate, 0, 1) === all - 1) Atomics.notify(gate, 0)
  // Spins for the shortest distance in time, but not for a thread that has no processor.
  for (let spins = 0, seen; (seen = Atomics.load(gate, 0)) < all; spins++) if (spins > 10_000) Atomics.wait(gate, 0, seen, 10)
  if (health.recordUnhealthy(503) !== undefined) evictions++
}
parentPort.postMessage([evictions, reported])
`

test('of threads that see an endpoint fail at the same time exactly one evicts it and reports it', async () => {
  const [threads, slots] = [2, 2000]
  const memory = createSlotMemory(slots)
  const settings: EvictionSettings = { ...EVICTION, durationMs: 3_600_000 }
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const workerData = { buffers: buffersOf(memory), gate, settings, threads, slots }
  const options = { eval: true, workerData, execArgv: ['--input-type=module'] }
  const counts = await Promise.all(
    Array.from({ length: threads }, () => {
      const worker = new Worker(THREAD, options)
      return new Promise<[evictions: number, reported: number]>((resolve, reject) =>
        worker.once('message', resolve).once('error', reject),
      )
    }),
  )
  const sumOf = (index: 0 | 1) => counts.reduce((sum, count) => sum + count[index], 0)
  expect([sumOf(0), sumOf(1)]).toEqual([slots, slots])
})

test('an answer that took most of an hour is slow, and its latency is no number below 0', () => {
  const [slow, faster] = [endpoint(), endpoint()]
  slow.recordHealthy(50 * 60_000)
  faster.recordHealthy(60_000)
  expect(slow.score).toBeGreaterThan(0)
  expect(slow.score).toBeLessThan(faster.score)
})

test.each<[string, Partial<EvictionSettings>, number, Eviction]>([
  ['no condition', {}, 1, { timeMs: 3000, cause: 'an unhealthy response', sign: 'no response' }],
  [
    'a count',
    { consecutiveFailures: 2 },
    2,
    { timeMs: 3000, cause: '2 consecutive unhealthy responses', sign: 'no response' },
  ],
  [
    'a threshold',
    { healthThreshold: 0.5 },
    2,
    { timeMs: 3000, cause: 'health 0.490 is below 0.5', sign: 'no response' },
  ],
  [
    'a threshold before a count',
    { consecutiveFailures: 3, healthThreshold: 0.5 },
    2,
    { timeMs: 3000, cause: 'health 0.490 is below 0.5', sign: 'no response' },
  ],
  [
    'a count and a threshold at once',
    { consecutiveFailures: 2, healthThreshold: 0.5 },
    2,
    { timeMs: 3000, cause: '2 consecutive unhealthy responses', sign: 'no response' },
  ],
])('an eviction is reported once, with its cause, and its end: %s', (_, settings, failures, eviction) => {
  const reported: (Eviction | undefined)[] = []
  const health = new EndpointHealth(createSlotMemory(1, false), 0, { ...EVICTION, ...settings }, false, (it) =>
    reported.push(it),
  )
  for (let i = 1; i < failures; i++) health.recordUnhealthy(503)
  expect(reported).toEqual([])
  health.recordUnhealthy('no response')
  health.recordUnhealthy(503)
  expect(reported).toEqual([eviction])
  clock.now = () => time + 3000
  expect([health.evicted, health.evicted]).toEqual([false, false])
  expect(reported).toEqual([eviction, undefined])
})

test('the state of an endpoint can be read without returning it to service', () => {
  const memory = createSlotMemory(2, false)
  const health = new EndpointHealth(memory, 1, { ...EVICTION, restoreHealth: 1 })
  expect(readEndpointState(memory, 1)).toEqual({ health: 1, consecutiveFailures: 0, evictedUntilMs: undefined })
  health.recordUnhealthy(503)
  expect(readEndpointState(memory, 1)).toEqual({ health: 0.7, consecutiveFailures: 1, evictedUntilMs: time + 3000 })
  time += 3000
  expect(readEndpointState(memory, 1)).toEqual({ health: 1, consecutiveFailures: 1, evictedUntilMs: undefined })
  expect(health.health).toBe(0.7)
  expect(health.evicted).toBe(false)
  expect(health.health).toBe(1)
  health.recordUnhealthy(503)
  time += 6000
  new EndpointHealth(memory, 1, EVICTION).recordUnhealthy(503)
  time += 9000
  expect(readEndpointState(memory, 1).health).toBe(0.7)
})
