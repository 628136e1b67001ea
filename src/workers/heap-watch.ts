import v8 from 'node:v8'
import { resourceLimits } from 'node:worker_threads'
import { clock } from '#base/clock.ts'
import { collectGarbage } from './release-memory.ts'

/** Shares of the heap that live objects take: from the first on it is full, below the second it is free again. */
const FULL = 0.75
const FREE = 0.6

/** How soon the garbage of a full heap is collected again. */
const COLLECT_MS = 500
/** At most this part of the time is spent on it. */
const COLLECT_SHARE = 0.1

/**
 * Says when the heap of this thread is nearly full of live objects, so that requests can be refused before V8 ends the thread. It is measured after
 * full collections, because before one most of a heap is garbage. V8 makes one whenever the heap has grown by half of what is free, so a heap
 * that fills up is measured several times on its way (docs/decisions/0002-one-process-worker-threads.md).
 */
export class HeapWatch {
  readonly #changed: (isFull: boolean) => void
  #isFull = false
  #next: { cancel(): void } | undefined

  constructor(changed: (isFull: boolean) => void) {
    this.#changed = changed
  }

  /** To be called after each full collection. */
  collected(): void {
    const share = shareOfHeap()
    if (this.#isFull ? share >= FREE : share < FULL) return
    this.#isFull = !this.#isFull
    this.#changed(this.#isFull)
    if (this.#isFull) this.#collectAfter(COLLECT_MS)
    else this.cancel()
  }

  cancel(): void {
    this.#next?.cancel()
    this.#next = undefined
  }

  /** Without requests, hardly anything is allocated, and V8 would not collect the garbage of those that have ended. */
  #collectAfter(ms: number): void {
    this.#next = clock.after(ms, () => {
      const startMs = clock.monotonic()
      collectGarbage()
      const tookMs = clock.monotonic() - startMs
      this.collected()
      if (this.#isFull) this.#collectAfter(Math.max(COLLECT_MS, tookMs / COLLECT_SHARE))
    })
  }
}

const MEGABYTE = 1024 * 1024

/**
 * How much of the memory for old objects is in use; when it is full, V8 ends the thread. The limit of the heap also includes young objects,
 * whose share is large in small heaps. `resourceLimits` does not know of `--max-old-space-size`, but the limit of the heap does.
 */
function shareOfHeap(): number {
  const youngBytes = (resourceLimits.maxYoungGenerationSizeMb ?? 0) * MEGABYTE
  const maxBytes = v8.getHeapStatistics().heap_size_limit - youngBytes
  let bytes = 0
  for (const { space_name: name, space_used_size: used } of v8.getHeapSpaceStatistics()) {
    if (!name.startsWith('new_')) bytes += used
  }
  return bytes / maxBytes
}
