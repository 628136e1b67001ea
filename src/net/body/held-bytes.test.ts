import { expect, test } from 'vitest'
import { roomFor } from '../testing/room-for.ts'
import { HeldBytes } from './held-bytes.ts'

const LETTERS = Buffer.from(Array.from({ length: 1000 }, (_, i) => String.fromCharCode(97 + (i % 26))).join(''))

test.each<[sizes: readonly number[], expected: number, charged: number]>([
  [[1000], 1000, 1000],
  [[1000], 10, 1000],
  [[400, 600], 1000, 1000],
  [[400, 100], 1000, 800],
  [[600, 100], 1000, 1000],
  [[600, 400], 700, 1000],
  [Array<number>(1000).fill(1), 1000, 1000],
])('pieces of %j bytes, of about %i', (sizes, expectedBytes, charged) => {
  const { claim, memory } = roomFor(0)
  const held = new HeldBytes(claim, expectedBytes)
  let at = 0
  for (const size of sizes) {
    const used = Buffer.from(LETTERS.subarray(at, at + size))
    expect(held.append(used, 0, size)).toBe(true)
    used.fill(0)
    at += size
  }
  expect([held.length, held.bytes]).toEqual([at, LETTERS.subarray(0, at)])
  expect(memory.heldBytes).toBe(charged)
  held.drop()
  expect([held.length, held.bytes.length, memory.heldBytes]).toEqual([0, 0, 0])
})

test('without room bytes are added only by appendAnyway', () => {
  const { claim, memory } = roomFor(0, 10)
  const held = new HeldBytes(claim, 100)
  expect([held.append(LETTERS, 0, 8), held.append(LETTERS, 8, 11)]).toEqual([true, false])
  expect([held.bytes.toString(), memory.heldBytes]).toEqual(['abcdefgh', 8])
  held.appendAnyway(LETTERS, 8, 11)
  expect([held.bytes.toString(), memory.heldBytes]).toEqual(['abcdefghijk', 16])
})

test('returned bytes do not change', () => {
  const held = new HeldBytes(roomFor(0).claim, 100)
  held.append(LETTERS, 0, 3)
  const before = held.bytes
  held.append(LETTERS, 3, 50)
  expect(before.toString()).toBe('abc')
})

test('bytes beyond an optional limit are not added', () => {
  const { claim, memory } = roomFor(0)
  const held = new HeldBytes(claim, 10, 1000)
  expect([held.appendWithin(LETTERS, 0, 8), held.appendWithin(LETTERS, 8, 11)]).toEqual([true, false])
  expect([held.appendWithin(LETTERS, 8, 10), held.appendWithin(LETTERS, 10, 10)]).toEqual([true, true])
  expect([held.bytes.toString(), memory.heldBytes]).toEqual(['abcdefghij', 10])
})
