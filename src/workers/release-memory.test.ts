import { execFileSync } from 'node:child_process'
import v8 from 'node:v8'
import vm from 'node:vm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { releaseMemoryOfStart, releaseYoungGeneration } from './release-memory.ts'

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

/** @returns what a script prints, in a process of its own. */
function run(script: string): unknown {
  const output = execFileSync(process.execPath, ['--input-type=module-typescript', '-e', script], { encoding: 'utf8' })
  return JSON.parse(output)
}

const MODULE = JSON.stringify(new URL('./release-memory.ts', import.meta.url).href)

/** Megabytes that a thread with 40 MB of live memory takes at most while it makes garbage. */
function mostHeapMb(how: 'limited' | 'as V8 decides'): number {
  const script = `
    import { getHeapStatistics } from 'node:v8'
    import { collectGarbage, limitHeapGrowth } from ${MODULE}
    using limit = ${how === 'limited' ? 'limitHeapGrowth()' : 'undefined'}
    const megabyte = () => new Array(1 << 17).fill(1.5)
    const live = Array.from({ length: 40 }, megabyte)
    collectGarbage()
    let most = 0
    const young = []
    for (let made = 0; made < 200; made++) {
      young[made % 16] = megabyte()
      most = Math.max(most, getHeapStatistics().used_heap_size)
    }
    console.log(live.length > 0 ? most / 1e6 : 0)`
  return run(script) as number
}

/** Megabytes of the young generation of a thread that makes objects that live long: under the limit, and after it. */
function youngGenerationMb(): [limited: number, later: number] {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { limitHeapGrowth } from ${MODULE}
    const live = []
    // While V8 marks live objects, it grows for a moment in any case.
    const leastMb = () => {
      let least = Infinity
      for (let round = 0; round < 30; round++) {
        for (let made = 0; made < 30_000; made++) live.push({ made })
        const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
        if (round >= 15) least = Math.min(least, space_size)
      }
      return least / 1e6
    }
    const limitedMb = () => {
      using limit = limitHeapGrowth()
      return leastMb()
    }
    console.log(JSON.stringify([limitedMb(), leastMb()]))`
  return run(script) as [number, number]
}

/** The least of several measurements, until one is below `enough`: V8 marks live objects in background threads, which other programs can delay. */
function leastOf(measure: () => number, enough: number): number {
  let least = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 6 && least >= enough; tries++) least = Math.min(least, measure())
  return least
}

test('a heap whose growth is limited is collected earlier', () => {
  const enoughMb = 0.85 * mostHeapMb('as V8 decides')
  expect(leastOf(() => mostHeapMb('limited'), enoughMb)).toBeLessThan(enoughMb)
})

test('a young generation keeps its size as long as growth is limited', () => {
  const ratio = () => {
    const [limited, later] = youngGenerationMb()
    return limited / later
  }
  expect(leastOf(ratio, 0.6)).toBeLessThan(0.6)
})

/** Of an interval: its processor time in milliseconds, the young generation in MB, and what a collection leaves of it. */
type Interval = readonly [cpuMs: number, sizeMb: number, leftMb?: number]

test.each<[what: string, intervals: readonly Interval[], collected: readonly number[]]>([
  [
    'when the thread has little to do',
    [
      [2500, 60],
      [499, 60, 1],
      [10, 1],
    ],
    [0, 1, 1],
  ],
  [
    'not while it has more to do',
    [
      [500, 60],
      [5000, 60],
    ],
    [0, 0],
  ],
  [
    'not if it is small',
    [
      [0, 8.3],
      [0, 1],
    ],
    [0, 0],
  ],
  [
    'again when it has grown again',
    [
      [0, 16, 2],
      [0, 2],
      [0, 60, 2],
    ],
    [1, 1, 2],
  ],
  [
    'once if V8 keeps it',
    [
      [0, 60, 60],
      [0, 60],
      [0, 60],
      [0, 64, 1],
    ],
    [1, 1, 1, 2],
  ],
])('the young generation is collected: %s', (_, intervals, collected) => {
  let now: { cpuMs: number; sizeMb: number } = { cpuMs: 0, sizeMb: 0 }
  vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => ({ user: 1000 * now.cpuMs, system: 0 }))
  vi.spyOn(v8, 'getHeapSpaceStatistics').mockImplementation(
    () => [{ space_name: 'new_space', physical_space_size: now.sizeMb * 1e6 }] as v8.HeapSpaceInfo[],
  )
  let left = 0
  const collect = vi.fn(() => {
    now.sizeMb = left
  })
  vi.spyOn(vm, 'runInNewContext').mockReturnValue(collect)
  const release = releaseYoungGeneration()
  const counts = intervals.map(([cpuMs, sizeMb, leftMb = 0]) => {
    now = { cpuMs, sizeMb }
    left = leftMb
    vi.advanceTimersByTime(5000)
    return collect.mock.calls.length
  })
  release.cancel()
  now = { cpuMs: 0, sizeMb: 50 }
  vi.advanceTimersByTime(60_000)
  expect(counts).toEqual(collected)
  expect(collect).toHaveBeenCalledTimes(collected.at(-1)!)
})
