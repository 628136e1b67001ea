import { expect, test } from 'vitest'
import { uncountedGuardLoad } from '#exchange/guard-load.ts'
import { bytesOf, type GuardedEvent, wholeEvent } from './held-event.ts'
import { HeldEvents } from './held-events.ts'

const event = (text: string): GuardedEvent => wholeEvent(Buffer.from(text), 0, text.length, [])

/** What leaves, in order. */
function takeAll(held: HeldEvents): string[] {
  const texts: string[] = []
  while (!held.isEmpty) texts.push(Buffer.from(bytesOf(held.takeFirst())).toString())
  return texts
}

test('events leave in their order, with the bytes that they had', () => {
  const held = new HeldEvents(uncountedGuardLoad())
  expect([held.isEmpty, held.first, held.firstPiece, held.bytes]).toEqual([true, undefined, undefined, 0])
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
  const held = new HeldEvents(uncountedGuardLoad())
  const lent = Buffer.from('one two three')
  held.hold({ buffer: lent, start: 4, end: 8, dataStart: 0, dataLength: 3, pieces: [] })
  lent.fill('x')
  expect(held.first).toMatchObject({ dataStart: 0, dataLength: 3, passed: 0 })
  expect(takeAll(held)).toEqual(['two '])
})

test('an event without room is not held, and what is dropped is gone', () => {
  const held = new HeldEvents(uncountedGuardLoad())
  expect(held.hold(event('a'.repeat(64 * 1024)))).toBe(true)
  expect(held.hold(event('b'))).toBe(false)
  held.drop()
  expect([held.isEmpty, held.bytes]).toEqual([true, 0])
  expect(held.hold(event('c'))).toBe(true)
  expect(takeAll(held)).toEqual(['c'])
})
