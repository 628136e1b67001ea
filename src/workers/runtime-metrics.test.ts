import { expect, onTestFinished, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { MetricsReader } from '#observe/metrics/metrics-reader.ts'
import { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import { eventually } from '#test/support/eventually.ts'
import { measureRuntime } from './runtime-metrics.ts'

function measured() {
  const reader = new MetricsReader({ hide: (text) => text, folded: () => {}, firstFolded: () => {} })
  const runtime = measureRuntime(new MetricsWriter((update) => reader.add('w7', update)), 'w7')
  const value = (sample: string) => {
    const line = reader
      .text()
      .split('\n')
      .find((each) => each.startsWith(`gatewright_${sample} `))
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')))
  }
  return { reader, runtime, value }
}

test('a timer that fires late is a delay of the event loop; the heap is read once a second', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  let nowMs = 1000
  vi.spyOn(clock, 'monotonic').mockImplementation(() => nowMs)
  const { runtime, value } = measured()
  const sampleAfter = (ms: number) => {
    nowMs += ms
    vi.advanceTimersByTime(100)
  }
  const used = value('heap_used_bytes{worker="w7"}')
  expect(used).toBeGreaterThan(1_000_000)
  expect(value('heap_total_bytes{worker="w7"}')).toBeGreaterThanOrEqual(used!)
  expect(value('heap_limit_bytes{worker="w7"}')).toBeGreaterThan(used!)
  expect(value('external_memory_bytes{worker="w7"}')).toBeGreaterThan(0)

  sampleAfter(100)
  sampleAfter(350)
  sampleAfter(99)
  const delays = (what: string) => value(`event_loop_delay_seconds_${what}`)
  expect(delays('sum{worker="w7"}')).toBe(0.25)
  expect(delays('bucket{worker="w7",le="0.001"}')).toBe(2)
  expect(delays('bucket{worker="w7",le="0.25"}')).toBe(3)

  const kept = Array.from({ length: 100_000 }, (_, i) => ({ i }))
  for (let i = 0; i < 7; i++) sampleAfter(100)
  expect(value('heap_used_bytes{worker="w7"}')).not.toBe(used)
  expect(kept).toHaveLength(100_000)
  runtime.cancel()
  sampleAfter(100)
  expect(delays('count{worker="w7"}')).toBe(10)
})

test('collections of garbage are measured by their kind', async () => {
  const { runtime, value } = measured()
  await eventually('a young collection', () => {
    for (let i = 0; i < 1000; i++) Array.from({ length: 1000 }, () => ({}))
    return value('gc_duration_seconds_count{worker="w7",kind="minor"}')
  })
  expect(value('gc_duration_seconds_sum{worker="w7",kind="minor"}')).toBeGreaterThan(0)
  runtime.cancel()
})
