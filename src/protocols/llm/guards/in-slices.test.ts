import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { runInSlices } from './in-slices.ts'

let time: VirtualTime
let now = 0
beforeEach(() => {
  time = new VirtualTime()
  now = 0
  clock.monotonic = () => now
})
afterEach(() => time[Symbol.dispose]())

/** Steps of this many milliseconds each. */
function* work(stepsMs: readonly number[], log: string[]): Generator<undefined, string> {
  for (const [index, ms] of stepsMs.entries()) {
    now += ms
    log.push(`step ${index}`)
    yield
  }
  return 'done'
}

test('short work is done at once', () => {
  expect(runInSlices(work([], []))).toBe('done')
  expect(runInSlices(work([4, 3.9], []))).toBe('done')
})

test('other tasks run after each stretch of 8 ms', async () => {
  const log: string[] = []
  const outcome = runInSlices(work([4, 4, 7, 1, 7], log))
  const other = () => {
    log.push('other')
    if (log.length < 20) setImmediate(other)
  }
  setImmediate(other)
  expect(log).toEqual(['step 0', 'step 1'])
  expect(await outcome).toBe('done')
  expect(log.slice(0, 6)).toEqual(['step 0', 'step 1', 'step 2', 'step 3', 'other', 'step 4'])
})
