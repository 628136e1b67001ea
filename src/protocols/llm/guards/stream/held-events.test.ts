import { expect, test } from 'vitest'
import { uncountedGuardLoad } from '#exchange/guard-load.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { bytesOf, type GuardedEvent, HeldEvents, wholeEvent } from './held-events.ts'

const event = (text: string): GuardedEvent => wholeEvent(Buffer.from(text), 0, text.length, [])

function heldWith(maxBytes = 100_000, room = 100_000): HeldEvents {
  return new HeldEvents({ claim: roomFor(0, room).claim, maxBytes, load: uncountedGuardLoad() })
}

/** What leaves, in order. */
function takeAll(held: HeldEvents): string[] {
  const texts: string[] = []
  while (!held.isEmpty) texts.push(Buffer.from(bytesOf(held.takeFirst())).toString())
  return texts
}

test('events leave in their order, with the bytes that they had', () => {
  const held = heldWith()
  expect([held.isEmpty, held.first, held.bytes]).toEqual([true, undefined, 0])
  // Some fit in a buffer with the ones before, others begin a new one, and one is larger than all buffers.
  const texts = [
    'a'.repeat(4000),
    'b'.repeat(96),
    'c',
    'd'.repeat(4096),
    'e',
    'f'.repeat(10_000),
    'g'.repeat(4000),
    'h',
  ]
  for (const text of texts) expect(held.hold(event(text))).toBe(true)
  expect(held.bytes).toBe(texts.join('').length)
  expect(takeAll(held)).toEqual(texts)
  expect(held.bytes).toBe(0)
})

test('a buffer that is lent may change after the call', () => {
  const held = heldWith()
  const lent = Buffer.from('one two three')
  held.hold({ buffer: lent, start: 4, end: 8, dataStart: 0, dataLength: 3, pieces: [] })
  lent.fill('x')
  expect(held.first).toMatchObject({ dataStart: 0, dataLength: 3, passed: 0 })
  expect(takeAll(held)).toEqual(['two '])
})

test('an event without room is not held, and what is dropped is gone', () => {
  const held = heldWith(10)
  // One event may be longer.
  expect(held.hold(event('a'.repeat(11)))).toBe(true)
  expect(held.hold(event('b'))).toBe(false)
  held.drop()
  expect([held.isEmpty, held.bytes]).toEqual([true, 0])
  expect(held.hold(event('c'))).toBe(true)
  expect(takeAll(held)).toEqual(['c'])
  expect(heldWith(100, 10).hold(event('a'.repeat(11)))).toBe(false)
})
