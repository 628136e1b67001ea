import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

/** Share of the memory of the machine, or of the container, that the bodies of all workers may use. */
const MEMORY_SHARE = 1 / 4
/** Share of the worker's heap limit that buffered bodies may use: the data that is read from them is on the heap. */
const HEAP_SHARE = 1 / 4

/** The available memory, in bytes. */
export interface Memory {
  readonly machineBytes: number
  /** Limit of the container; 0, or more than the machine has: no limit. */
  readonly containerBytes: number
  /** Heap limit of one worker. */
  readonly heapBytes: number
}

export function availableMemory(): Memory {
  return {
    machineBytes: totalmem(),
    containerBytes: process.constrainedMemory(),
    heapBytes: getHeapStatistics().heap_size_limit,
  }
}

/** Memory for the bodies that one of `workers` buffers, in bytes, if no setting gives it. */
export function bodyMemoryOf({ machineBytes, containerBytes, heapBytes }: Memory, workers: number): number {
  const usableBytes = containerBytes === 0 ? machineBytes : Math.min(containerBytes, machineBytes)
  return Math.floor(Math.min((usableBytes * MEMORY_SHARE) / workers, heapBytes * HEAP_SHARE))
}
