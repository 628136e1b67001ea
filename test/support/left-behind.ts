import { beforeAll, expect, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { workerWheel } from '#net/timer-wheel.ts'
import './wait-limits.ts'

// Test files share workers, so state that one file leaves affects others. A file that leaves any of the following fails.

const CLOCK = { ...clock }
const RESOURCES = ['TCPServerWrap', 'ProcessWrap', 'MessagePort']

// Cleanups of the first hook run last.
beforeAll(() => {
  const before = openResources()
  return async () => {
    expect(vi.isFakeTimers(), 'timers are still fake').toBe(false)
    vi.restoreAllMocks()
    // With a timer that was armed in virtual time, the wheel would not turn in real time.
    workerWheel.clear()
    expect({ ...clock }, 'the clock is still replaced').toEqual(CLOCK)
    const look = () => {
      const left = openResources().filter((resource, _, all) => countOf(all, resource) > countOf(before, resource))
      expect(left, 'resources of this file are still open').toEqual([])
    }
    await vi.waitFor(look, { timeout: 5000, interval: 5 })
  }
})

function openResources(): string[] {
  return process.getActiveResourcesInfo().filter((resource) => RESOURCES.includes(resource))
}

function countOf(resources: readonly string[], name: string): number {
  return resources.filter((resource) => resource === name).length
}
