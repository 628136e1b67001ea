import { expect, test } from 'vitest'
import { roomFor } from '#net/testing/room-for.ts'
import { KeptText, KeptTextMemory } from './kept-text.ts'

test('a text is kept whole, in however many pieces it comes', () => {
  const kept = new KeptText(new KeptTextMemory(roomFor(0).claim, 100_000))
  expect(kept.text).toBe('')
  const pieces = Array.from({ length: 500 }, (_, index) => `${index} `.repeat(index % 7))
  for (const piece of pieces) kept.append(piece)
  expect(kept.text).toBe(pieces.join(''))
})

test('a text for which there is no room is forgotten, and so are all later ones', () => {
  const room = roomFor(0, 3000)
  const memory = new KeptTextMemory(room.claim, 2000)
  const [first, second, third] = [new KeptText(memory), new KeptText(memory), new KeptText(memory)]
  first.append('a'.repeat(1024))
  second.append('b'.repeat(1024))
  third.append('c'.repeat(1024))
  expect([first.text?.length, second.text, third.text]).toEqual([1024, undefined, undefined])
  // The memory of the worker is smaller than the limit of the stream.
  const larger = new KeptText(new KeptTextMemory(room.claim, 100_000))
  larger.append('d'.repeat(4000))
  expect(larger.text).toBeUndefined()
})
