import { expect, test } from 'vitest'
import { createSlotMemory, SlotDirectory, WORDS_PER_SLOT } from './slots.ts'

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
  for (const [key] of [...directory.entries()]) if (!keys.includes(key)) directory.free(key)
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
  expect(new Map(directory.entries())).toEqual(
    new Map([
      ['b', b],
      ['c', directory.slotOf('c')!],
    ]),
  )
})

test('no two keys share a slot, however often keys come and go', () => {
  const { directory } = directoryOf(4)
  for (let round = 0; round < 20; round++) {
    expect(retain(directory, [`${round}`, `${round + 1}`, `${round + 2}`])).toEqual([])
    const slots = [...directory.entries()].map(([, slot]) => slot)
    expect(new Set(slots).size).toBe(3)
    expect(slots.every((slot) => slot >= 0 && slot < 4)).toBe(true)
  }
})

test('when memory is full further keys get none, until one is freed', () => {
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

test('a freed slot is given out again only when all others have been used, the one that rested longest first', () => {
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
