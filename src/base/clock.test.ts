import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clock } from './clock.ts'

const DAY_MS = 86_400_000

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test.each([2, 10_000, 30 * DAY_MS, 365 * DAY_MS])('after %i ms, once, and not before', (ms) => {
  let calls = 0
  clock.after(ms, () => calls++)
  vi.advanceTimersByTime(ms - 1)
  expect(calls).toBe(0)
  vi.advanceTimersByTime(1)
  expect(calls).toBe(1)
  vi.advanceTimersByTime(365 * DAY_MS)
  expect(calls).toBe(1)
})

test.each([0, 30])('a wait of a year that is cancelled after %i days is over', (days) => {
  let calls = 0
  const wait = clock.after(365 * DAY_MS, () => calls++)
  vi.advanceTimersByTime(days * DAY_MS)
  wait.cancel()
  vi.advanceTimersByTime(400 * DAY_MS)
  expect(calls).toBe(0)
})
