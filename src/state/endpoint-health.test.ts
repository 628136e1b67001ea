import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { verifies } from '#test/support/verifies.ts'
import { EndpointHealth, type EvictionSettings } from './endpoint-health.ts'
import { createSlotMemory } from './slots.ts'

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
    if (answer === '-') return health.recordUnhealthy()
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

verifies(
  'health/evict-duration-multiplied',
  'each further eviction lasts one duration longer, until a healthy answer',
  () => {
    const health = endpoint({})
    const times: (number | undefined)[] = []
    for (let i = 0; i < 4; i++) {
      times.push(...record(health, '-'))
      time += 100_000
    }
    expect(times).toEqual([3000, 6000, 9000, 12_000])
    record(health, '+')
    expect(record(health, '-')).toEqual([3000])
  },
)

test('an unhealthy answer during an eviction neither prolongs nor counts it', () => {
  const health = endpoint({})
  expect(record(health, '---')).toEqual([3000, undefined, undefined])
  time += 3000
  expect(health.evicted).toBe(false)
  expect(record(health, '-')).toEqual([6000])
})

test('a healthy answer during an eviction does not end it and does not forget that there was one', () => {
  const health = endpoint({})
  record(health, '-+')
  expect(health.evicted).toBe(true)
  time += 3000
  expect(record(health, '-')).toEqual([6000])
})

test('the count of failures outlives an eviction: one more failure evicts again', () => {
  const health = endpoint({ consecutiveFailures: 2 })
  expect(record(health, '--')).toEqual([undefined, 3000])
  time += 3000
  expect(record(health, '-')).toEqual([6000])
})

test('after a healthy answer in service the count starts anew', () => {
  const health = endpoint({ consecutiveFailures: 2 })
  record(health, '--')
  time += 3000
  expect(record(health, '+-')).toEqual([undefined, undefined])
  expect(record(health, '-')).toEqual([3000])
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

test('from a health of 0 the first healthy answer counts whole', () => {
  const health = endpoint({ restoreHealth: 0 })
  record(health, '-')
  time += 3000
  expect(health.evicted).toBe(false)
  record(health, '+')
  expect(health.health).toBe(1)
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

test('an unhealthy answer says nothing about latency, and a very slow one does not overflow', () => {
  const health = endpoint()
  record(health, '-')
  expect(health.score).toBe(health.health)
  health.recordHealthy(3_600_000_000)
  expect(health.score).toBeGreaterThan(0)
})

test('all workers and routes see one state, each with its own settings', () => {
  const memory = createSlotMemory(1)
  const [one, other, without] = [
    endpoint({}, memory),
    endpoint({ consecutiveFailures: 9 }, memory),
    endpoint(undefined, memory),
  ]
  one.recordUnhealthy()
  expect([one.evicted, other.evicted, without.evicted]).toEqual([true, true, true])
  expect(other.health).toBe(one.health)
  time += 3000
  expect([without.evicted, one.evicted]).toEqual([false, false])
})

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
  expect(evicted.score).toBe(1)
  evicted.end()
  expect(record(evicted, '-+--')).toEqual([undefined, undefined, undefined, 3000])
  expect(evicted.evicted).toBe(true)

  const plain = new EndpointHealth(createSlotMemory(1, false), 0, undefined, true)
  plain.recordUnhealthy()
  const { health } = plain
  plain.recordHealthy(5000)
  expect([plain.health, plain.score]).toEqual([health, health])
})
