import { constants, PerformanceObserver } from 'node:perf_hooks'
import v8 from 'node:v8'
import { clock } from '#base/clock.ts'
import type { MetricsWriter } from '#observe/metrics/metrics-writer.ts'

/** How often the delay of the event loop is sampled: often enough to hit what blocks it for long, and rare enough to cost nothing. */
const SAMPLE_MS = 100
/** Samples between two readings of the heap. */
const SAMPLES_PER_HEAP = 10

interface GcEntry extends PerformanceEntry {
  readonly detail: { readonly kind: number }
}

/** Kinds of garbage collections, by the constants of Node. */
const GC_KINDS: ReadonlyMap<number, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MINOR_MARK_SWEEP, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weak-callbacks'],
])

/**
 * Measures the runtime of this thread until it is cancelled: delays of its event loop, garbage collections, heap. It does not keep the thread
 * alive.
 * @param worker name of the thread
 * @param collected called soon after each full collection
 */
export function measureRuntime(
  metrics: MetricsWriter,
  worker: string,
  collected: () => void = () => {},
): { cancel(): void } {
  const delays = metrics.series('eventLoopDelay', [worker])
  const measureHeap = heapOf(metrics, worker)
  let samples = 0
  let dueMs = clock.monotonic() + SAMPLE_MS
  const timer = setInterval(() => {
    const nowMs = clock.monotonic()
    delays.observe(Math.max(0, nowMs - dueMs) / 1000)
    dueMs = nowMs + SAMPLE_MS
    if (++samples % SAMPLES_PER_HEAP === 0) measureHeap()
  }, SAMPLE_MS).unref()
  measureHeap()
  const collections = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail } = entry as GcEntry
      const kind = GC_KINDS.get(detail.kind) ?? 'other'
      metrics.series('gcDuration', [worker, kind]).observe(duration / 1000)
      if (kind === 'major') collected()
    }
  })
  collections.observe({ entryTypes: ['gc'] })
  return {
    cancel() {
      clearInterval(timer)
      collections.disconnect()
    },
  }
}

function heapOf(metrics: MetricsWriter, worker: string): () => void {
  const used = metrics.series('heapUsed', [worker])
  const total = metrics.series('heapTotal', [worker])
  const limit = metrics.series('heapLimit', [worker])
  const external = metrics.series('externalMemory', [worker])
  return () => {
    const heap = v8.getHeapStatistics()
    used.set(heap.used_heap_size)
    total.set(heap.total_heap_size)
    limit.set(heap.heap_size_limit)
    external.set(heap.external_memory)
  }
}
