import v8 from 'node:v8'
import vm from 'node:vm'
import { clock } from '#base/clock.ts'

type CollectGarbage = (how: {
  readonly type: 'major'
  readonly execution: 'sync'
  readonly flavor: 'last-resort'
}) => void

/**
 * Returns the memory of the garbage that a big task left: V8 keeps it for later tasks of that size, which may never come. Blocks the thread
 * for about a millisecond per megabyte of live memory.
 */
export function releaseMemory(): void {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as CollectGarbage
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
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
