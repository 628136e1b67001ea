import v8 from 'node:v8'
import vm from 'node:vm'
import { clock } from '#base/clock.ts'

type CollectGarbage = (how: {
  readonly type: 'major' | 'minor'
  readonly execution: 'sync'
  readonly flavor?: 'last-resort'
}) => void

/**
 * Returns the memory of the garbage that a big task left: V8 keeps it for later tasks of that size, which may never come. Blocks the thread
 * for about a millisecond per megabyte of live memory.
 */
export function releaseMemory(): void {
  collector()({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

/** Collects garbage once: less thorough than `releaseMemory`, in a quarter of the time. */
export function collectGarbage(): void {
  collector()({ type: 'major', execution: 'sync' })
}

/** V8 lets a heap that grows fast become up to four times as large as its live memory. */
const GROWTH_PERCENT = 40

/** What V8 does by default. */
const UNLIMITED = '--heap-growing-percent=0 --semi-space-growth-factor=2'

/**
 * Until disposal, V8 collects the garbage of a thread when its heap is larger than its live memory by this share, and young generations
 * keep their size: objects of a plan live long, and a larger young generation would only copy them later. Applies to all threads.
 */
export function limitHeapGrowth(): Disposable {
  v8.setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT} --semi-space-growth-factor=1`)
  return { [Symbol.dispose]: () => v8.setFlagsFromString(UNLIMITED) }
}

function collector(): CollectGarbage {
  v8.setFlagsFromString('--expose-gc')
  return vm.runInNewContext('gc') as CollectGarbage
}

/** A gateway that was started to answer one question has ended by then. */
const START_IS_OVER_MS = 5000
/** Of a busy thread V8 collects the garbage in any case, and requests would wait for this collection. */
const BUSY = 0.1

/**
 * Releases the memory that the start took: loading code leaves garbage, and so does a first plan of any size. Waits until the start is
 * over, and omits it if the thread is busy.
 */
export function releaseMemoryOfStart(): { cancel(): void } {
  const before = performance.eventLoopUtilization()
  return clock.after(START_IS_OVER_MS, () => {
    if (performance.eventLoopUtilization(before).utilization < BUSY) releaseMemory()
  })
}

/** How often a thread is looked at. */
const LOOK_MS = 5000

/** A young generation of this size is left alone, in bytes. */
const SMALL_YOUNG_GENERATION = 8 * 1024 * 1024

/**
 * Shrinks the young generation of a thread whenever it has little to do, until it is cancelled. V8 lets it grow to 64 MB during a burst of
 * requests, and keeps it as long as hardly anything is allocated: a worker whose connections are silent would hold it for hours. It takes a
 * few milliseconds.
 */
export function releaseYoungGeneration(): { cancel(): void } {
  let before = process.threadCpuUsage()
  /** Its size, if V8 did not shrink it: it is not asked again. */
  let kept: number | undefined
  const look = () => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    const isBusy = (user + system) / 1000 >= BUSY * LOOK_MS
    const size = youngGenerationBytes()
    if (!isBusy && size > SMALL_YOUNG_GENERATION && size !== kept) {
      collector()({ type: 'minor', execution: 'sync' })
      kept = youngGenerationBytes()
    }
    next = clock.after(LOOK_MS, look)
  }
  let next = clock.after(LOOK_MS, look)
  return { cancel: () => next.cancel() }
}

function youngGenerationBytes(): number {
  const space = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  return space?.physical_space_size ?? 0
}
