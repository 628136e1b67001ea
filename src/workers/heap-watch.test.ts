import v8 from 'node:v8'
import vm from 'node:vm'
import { resourceLimits } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { HeapWatch } from './heap-watch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A heap of 1,000 bytes for old objects. */
function watched() {
  const heap = { old: 0, young: 0, collectionMs: 0 }
  const space = (space_name: string, space_used_size: number) => ({ space_name, space_used_size }) as v8.HeapSpaceInfo
  vi.spyOn(v8, 'getHeapSpaceStatistics').mockImplementation(() => [
    space('old_space', heap.old - 100),
    space('large_object_space', 100),
    space('new_space', heap.young),
    space('new_large_object_space', heap.young),
  ])
  const youngBytes = 1024 * 1024 * resourceLimits.maxYoungGenerationSizeMb!
  const limits = { heap_size_limit: youngBytes + 1000 } as v8.HeapInfo
  vi.spyOn(v8, 'getHeapStatistics').mockReturnValue(limits)
  let nowMs = 0
  vi.spyOn(clock, 'monotonic').mockImplementation(() => nowMs)
  const collect = vi.fn(() => {
    nowMs += heap.collectionMs
  })
  vi.spyOn(vm, 'runInNewContext').mockReturnValue(collect)
  const states: boolean[] = []
  const watch = new HeapWatch((isFull) => states.push(isFull))
  return { heap, watch, states, collect }
}

test('the heap is full at 75%, and free again below 60%; young objects do not count', () => {
  const { heap, watch, states, collect } = watched()
  heap.young = 900
  for (const [old, expected] of [
    [749, []],
    [750, [true]],
    [999, [true]],
    [600, [true]],
    [599, [true, false]],
    [749, [true, false]],
    [751, [true, false, true]],
  ] as const) {
    heap.old = old
    watch.collected()
    expect(states).toEqual(expected)
  }
  watch.cancel()
  vi.advanceTimersByTime(60_000)
  expect(collect).not.toHaveBeenCalled()
})

test('the garbage of a full heap is collected until it is free', () => {
  const { heap, watch, states, collect } = watched()
  heap.old = 800
  watch.collected()
  vi.advanceTimersByTime(499)
  expect(collect).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(collect).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(500)
  expect(collect).toHaveBeenCalledTimes(2)
  heap.old = 300
  vi.advanceTimersByTime(500)
  expect(states).toEqual([true, false])
  vi.advanceTimersByTime(60_000)
  expect(collect).toHaveBeenCalledTimes(3)
})

test('collections that take long are rare', () => {
  const { heap, watch, collect } = watched()
  heap.old = 800
  heap.collectionMs = 300
  watch.collected()
  vi.advanceTimersByTime(500)
  expect(collect).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(2999)
  expect(collect).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1)
  expect(collect).toHaveBeenCalledTimes(2)
  watch.cancel()
})
