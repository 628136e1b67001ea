import { expect, test } from 'vitest'
import { HoldBuffer } from './hold-buffer.ts'

const LETTERS = Buffer.from(Array.from({ length: 6000 }, (_, i) => String.fromCharCode(97 + (i % 26))).join(''))

test('appended bytes are held in order, and memory doubles', () => {
  const held = new HoldBuffer()
  const sizes: number[] = []
  for (const [start, end] of [
    [0, 1000],
    [1000, 1100],
    [1100, 6000],
  ] as const) {
    held.append(LETTERS, start, end)
    sizes.push(held.bytes.length)
    expect(held.bytes.subarray(0, held.length).equals(LETTERS.subarray(0, end))).toBe(true)
  }
  expect(sizes).toEqual([1024, 2048, 6000])
})

test('the rest of the held bytes replaces them, and nothing releases the memory', () => {
  const held = new HoldBuffer()
  held.append(LETTERS, 0, 2000)
  held.replace(held.bytes, 10, 2000)
  expect([held.length, held.bytes.toString('latin1', 0, 3), held.bytes.length]).toEqual([1990, 'klm', 2048])
  held.replace(LETTERS, 1, 3)
  expect(held.bytes.toString('latin1', 0, held.length)).toBe('bc')
  held.replace(held.bytes, 2, 2)
  expect([held.length, held.bytes.length]).toEqual([0, 1024])
})
