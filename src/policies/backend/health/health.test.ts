import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { contextWith, exchangeWith, sourceOf, specFrom } from '../../shared/testing.ts'
import { health } from './index.ts'
import { backendHealth } from './schema.ts'

const compile = (written: object) => health.compile([sourceOf(specFrom(backendHealth, written))], contextWith())

function isUnhealthy(setting: ReturnType<typeof compile>, status: number): boolean {
  return setting.isUnhealthy(exchangeWith({ status }), status)
}

verifies('health/unset-5xx', 'the default condition', () => {
  for (const setting of [compile({}), health.compile([], contextWith())]) {
    for (const status of [200, 404, 429, 499]) expect(isUnhealthy(setting, status)).toBe(false)
    for (const status of [500, 503, 504, 599]) expect(isUnhealthy(setting, status)).toBe(true)
  }
})

verifies(
  ['health/unhealthyCondition', 'health/unhealthyCondition-response-code'],
  'a condition replaces the default',
  () => {
    const setting = compile({ unhealthyCondition: 'response.code == 429' })
    expect(isUnhealthy(setting, 429)).toBe(true)
    expect(isUnhealthy(setting, 500)).toBe(false)
  },
)

test('a condition that does not compile is reported, and all responses are healthy', () => {
  const context = contextWith()
  const setting = health.compile([sourceOf({ unhealthyCondition: '1 +' })], context)
  expect(context.reports).toEqual(['cel-syntax spec.traffic.field.unhealthyCondition'])
  expect(isUnhealthy(setting, 500)).toBe(false)
})

test('a condition must be a bool', () => {
  const context = contextWith()
  health.compile([sourceOf({ unhealthyCondition: '"yes"' })], context)
  expect(context.reports).toEqual(['cel-unexpected-type spec.traffic.field.unhealthyCondition'])
})

const NOTHING = { restoreHealth: undefined, consecutiveFailures: undefined, healthThreshold: undefined }

verifies('health/duration-default', 'eviction settings, with percentages as fractions', () => {
  expect(compile({}).eviction).toBeUndefined()
  expect(compile({ eviction: {} }).eviction).toEqual({ ...NOTHING, durationMs: 3000 })
  const eviction = { duration: '1m', restoreHealth: 25, consecutiveFailures: 0, healthThreshold: 50 }
  expect(compile({ eviction }).eviction).toEqual({
    durationMs: 60_000,
    restoreHealth: 0.25,
    consecutiveFailures: 0,
    healthThreshold: 0.5,
  })
})
