import { expect, test } from 'vitest'
import { availableMemory, bodyMemoryOf } from './body-memory.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30

test.each<[what: string, machine: number, container: number, heap: number, workers: number, bytes: number]>([
  ['a machine', 8 * GIB, 0, 4 * GIB, 2, GIB],
  ['a machine whose container has no bound', 8 * GIB, 2 ** 64, 4 * GIB, 2, GIB],
  ['a container', 64 * GIB, 2 * GIB, 4 * GIB, 2, 256 * MIB],
  ['many workers', 16 * GIB, 0, 4 * GIB, 16, 256 * MIB],
  ['a small heap', 64 * GIB, 0, 2 * GIB, 4, 512 * MIB],
])('%s', (_, machineBytes, containerBytes, heapBytes, workers, bytes) => {
  expect(bodyMemoryOf({ machineBytes, containerBytes, heapBytes }, workers)).toBe(bytes)
})

test('here there is some', () => {
  expect(bodyMemoryOf(availableMemory(), 2)).toBeGreaterThan(MIB)
})
