import { execFileSync } from 'node:child_process'
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

/** Megabytes that a thread with 100 MB of live memory takes at most while it makes garbage. */
function mostHeapMb(how: 'limited' | 'as V8 decides'): number {
  const script = `
    import { getHeapStatistics } from 'node:v8'
    import { collectGarbage, limitHeapGrowth } from ${JSON.stringify(new URL('./release-memory.ts', import.meta.url).href)}
    using limit = ${how === 'limited' ? 'limitHeapGrowth()' : 'undefined'}
    const megabyte = () => new Array(1 << 17).fill(1.5)
    const live = Array.from({ length: 100 }, megabyte)
    collectGarbage()
    let most = 0
    const young = []
    for (let made = 0; made < 500; made++) {
      young[made % 40] = megabyte()
      most = Math.max(most, getHeapStatistics().used_heap_size)
    }
    console.log(live.length > 0 ? most / 1e6 : 0)`
  const output = execFileSync(process.execPath, ['--input-type=module-typescript', '-e', script], { encoding: 'utf8' })
  return Number(output)
}

test('a heap whose growth is limited is collected earlier', () => {
  expect(mostHeapMb('limited')).toBeLessThan(0.7 * mostHeapMb('as V8 decides'))
})
