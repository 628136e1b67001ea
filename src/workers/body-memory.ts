import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

/** Part of the memory of the machine, or of the container, that bodies of all workers may take. */
const MEMORY_SHARE = 1 / 4
/** Part of what V8 lets a worker have that its bodies may come to: what is read from them stands there. */
const HEAP_SHARE = 1 / 4

/** What there is, in bytes. */
export interface Memory {
  readonly machineBytes: number
  /** What a container may use; 0, or more than there is: it has no bound. */
  readonly containerBytes: number
  /** What V8 lets one worker have. */
  readonly heapBytes: number
}

export function availableMemory(): Memory {
  return {
    machineBytes: totalmem(),
    containerBytes: process.constrainedMemory(),
    heapBytes: getHeapStatistics().heap_size_limit,
  }
}

/** Memory for the bodies that one of `workers` gathers, in bytes, where nobody has said how much that is. */
export function bodyMemoryOf({ machineBytes, containerBytes, heapBytes }: Memory, workers: number): number {
  const usableBytes = containerBytes === 0 ? machineBytes : Math.min(containerBytes, machineBytes)
  return Math.floor(Math.min((usableBytes * MEMORY_SHARE) / workers, heapBytes * HEAP_SHARE))
}
