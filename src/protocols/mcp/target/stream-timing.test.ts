import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pauseBefore } from './stream-timing.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** How long a pause lasts. */
async function lengthOf(pause: Promise<void>): Promise<number> {
  const before = performance.now()
  let after: number | undefined
  void pause.then(() => {
    after = performance.now()
  })
  await vi.advanceTimersByTimeAsync(60_000)
  return after! - before
}

test.each([
  [undefined, 0, 1000],
  [50, 0, 100],
  [3000, 0, 3000],
  [1000, 2, 4000],
  [1000, 9, 30_000],
  [100_000, 0, 30_000],
])('the target wants %j ms, and %d attempts have failed: %d ms', async (retryMs, failures, ms) => {
  expect(await lengthOf(pauseBefore(retryMs, new AbortController().signal, failures))).toBe(ms)
})

test('a pause ends with its signal, and does not begin after it', async () => {
  const leaving = new AbortController()
  setTimeout(() => leaving.abort(), 200)
  expect(await lengthOf(pauseBefore(1000, leaving.signal))).toBe(200)
  expect(await lengthOf(pauseBefore(1000, leaving.signal))).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})
