import { expect, test } from 'vitest'
import { AssignedSlots, createSlotMemory, SlotDirectory, WORDS_PER_SLOT } from './slots.ts'

function directoryOf(slots: number) {
  const memory = createSlotMemory(slots, false)
  return { memory, directory: new SlotDirectory(memory) }
}

test('a key keeps its slot; another key gets another one', () => {
  const { directory } = directoryOf(3)
  const a = directory.assign('a')
  const b = directory.assign('b')
  expect(a).not.toBe(b)
  expect([directory.assign('a'), directory.slotOf('a'), directory.slotOf('b')]).toEqual([a, a, b])
  expect(directory.slotOf('c')).toBeUndefined()
})

/** Gives slots to these keys and frees all others. @returns the keys that got none */
function retain(directory: SlotDirectory, keys: readonly string[]): string[] {
  for (const [key] of directory.assignments()) if (!keys.includes(key)) directory.free(key)
  return keys.filter((key) => directory.assign(key) === undefined)
}

test('freeing a key leaves the others alone', () => {
  const { directory } = directoryOf(3)
  expect(retain(directory, ['a', 'b'])).toEqual([])
  const b = directory.slotOf('b')
  directory.free('unknown')
  expect(retain(directory, ['b', 'c'])).toEqual([])
  expect(directory.slotOf('b')).toBe(b)
  expect(directory.slotOf('a')).toBeUndefined()
  expect(directory.assignments()).toEqual([
    ['b', b, undefined],
    ['c', directory.slotOf('c'), undefined],
  ])
})

test('no two keys share a slot, however often keys come and go', () => {
  const { directory } = directoryOf(4)
  for (let round = 0; round < 20; round++) {
    expect(retain(directory, [`${round}`, `${round + 1}`, `${round + 2}`])).toEqual([])
    const slots = directory.assignments().map(([, slot]) => slot)
    expect(new Set(slots).size).toBe(3)
    expect(slots.every((slot) => slot >= 0 && slot < 4)).toBe(true)
  }
})

test('when memory is full further keys get no slot, until one is freed', () => {
  const { directory } = directoryOf(2)
  expect(retain(directory, ['a', 'b', 'c', 'd'])).toEqual(['c', 'd'])
  expect(directory.assign('e')).toBeUndefined()
  expect(retain(directory, ['b', 'd'])).toEqual([])
  expect(directory.slotOf('d')).toBeDefined()
})

test('a slot is empty when a key gets it, also one that was used before; its neighbours are untouched', () => {
  const { memory, directory } = directoryOf(2)
  const a = directory.assign('a')!
  directory.assign('b')
  memory.words.fill(7)
  retain(directory, ['b'])
  expect(directory.assign('c')).toBe(a)
  const wordsOf = (key: string) => {
    const at = directory.slotOf(key)! * WORDS_PER_SLOT
    return new Set(memory.words.slice(at, at + WORDS_PER_SLOT))
  }
  expect([wordsOf('c'), wordsOf('b')]).toEqual([new Set([0]), new Set([7])])
})

test('a freed slot is reused only when all others have been used, the one freed first before others', () => {
  const { directory } = directoryOf(4)
  retain(directory, ['a', 'b'])
  const [a, b] = [directory.slotOf('a'), directory.slotOf('b')]
  retain(directory, ['b'])
  retain(directory, [])
  const later = ['c', 'd', 'e', 'f'].map((key) => directory.assign(key))
  expect(later.slice(0, 2)).not.toContain(a)
  expect(later.slice(0, 2)).not.toContain(b)
  expect(later.slice(2)).toEqual([a, b])
})

test('memory is shared between threads unless there is only one', () => {
  expect(createSlotMemory(2).words.buffer).toBeInstanceOf(SharedArrayBuffer)
  expect(createSlotMemory(2, false).words.buffer).toBeInstanceOf(ArrayBuffer)
  expect(createSlotMemory(2).words).toHaveLength(2 * WORDS_PER_SLOT)
})

test('a key that counts by value keeps its table while it has a slot; other keys have no table', () => {
  const { directory } = directoryOf(2)
  directory.assign('a')
  directory.assign('b')
  expect(directory.valuesOf('unknown')).toBeUndefined()
  const values = directory.valuesOf('a')
  expect(values?.byteLength).toBe(1_065_024)
  expect(directory.valuesOf('a')).toBe(values)
  expect(directory.assignments()).toEqual([
    ['a', 0, values],
    ['b', 1, undefined],
  ])
  directory.free('a')
  expect(directory.valuesOf('a')).toBeUndefined()
  directory.assign('a')
  expect(directory.valuesOf('a')).not.toBe(values)
})

test('memory for values is shared if slots are', () => {
  for (const shared of [true, false]) {
    const directory = new SlotDirectory(createSlotMemory(1, shared))
    directory.assign('a')
    expect(directory.valuesOf('a') instanceof SharedArrayBuffer).toBe(shared)
  }
})

test('a worker has the slots of its last update', () => {
  const slots = new AssignedSlots()
  const values = new ArrayBuffer(8)
  slots.update({
    assigned: [
      ['a', 3, values],
      ['b', 4],
    ],
    freed: [],
  })
  expect([slots.slotOf('a'), slots.valuesOf('a'), slots.slotOf('b'), slots.valuesOf('b')]).toEqual([
    3,
    values,
    4,
    undefined,
  ])
  slots.update({ assigned: [['c', 3]], freed: ['a'] })
  expect([slots.slotOf('a'), slots.valuesOf('a'), slots.slotOf('c'), slots.slotOf('b')]).toEqual([
    undefined,
    undefined,
    3,
    4,
  ])
})
