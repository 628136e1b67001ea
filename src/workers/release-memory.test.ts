import vm from 'node:vm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { releaseMemoryOfStart } from './release-memory.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Whether the thread collected its garbage by then, when its event loop was busy for that part of the time. */
function collectedAfter(ms: number, busy: number): boolean {
  vi.spyOn(performance, 'eventLoopUtilization').mockReturnValue({ idle: 0, active: 0, utilization: busy })
  const collect = vi.fn()
  vi.spyOn(vm, 'runInNewContext').mockReturnValue(collect)
  const release = releaseMemoryOfStart()
  vi.advanceTimersByTime(ms)
  release.cancel()
  vi.advanceTimersByTime(60_000)
  return collect.mock.calls.length > 0
}

test.each([
  [4999, 0, false],
  [5000, 0, true],
  [5000, 0.09, true],
  [5000, 0.1, false],
])('%i ms after the start of a thread that is busy for %d of the time: collected: %s', (ms, busy, collected) => {
  expect(collectedAfter(ms, busy)).toBe(collected)
})
