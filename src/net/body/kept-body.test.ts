import { expect, test } from 'vitest'
import { Head } from '../http/head.ts'
import { Giver } from '../testing/giver.ts'
import { TextSink } from '../testing/recording-handler.ts'
import { roomFor } from '../testing/room-for.ts'
import { collectBody, collectStart, type PartialBody } from './collect-body.ts'
import { FixedBody } from './fixed-body.ts'
import { KeptBody } from './kept-body.ts'

test('a body goes to one receiver after another, with bytes that arrive meanwhile and its trailers', () => {
  const giver = new Giver()
  const body = new KeptBody(giver, roomFor(100))
  const [first, second, third] = [new TextSink(), new TextSink(), new TextSink()]
  body.pipe(first)
  giver.give('one ')
  body.rest()
  expect(giver.paused).toBe(true)
  giver.give('two ')
  body.pipe(second)
  expect(giver.paused).toBe(false)
  giver.give('three')
  const trailers = new Head()
  trailers.append('x-sum', '3')
  giver.sink.end(trailers)
  body.rest()
  let seen: string | undefined
  Object.assign(third, { end: (last?: Head) => (seen = last?.get('x-sum')) })
  body.pipe(third)
  expect([first.text, second.text, third.text]).toEqual(['one ', 'one two three', 'one two three'])
  expect([first.ended, second.ended, seen]).toEqual([false, true, '3'])
})

/** A body of which one receiver got a part; more arrived before the next one. */
function begun() {
  const giver = new Giver()
  const body = new KeptBody(giver, roomFor(100))
  body.pipe(new TextSink())
  giver.give('one ')
  body.rest()
  giver.give('two ')
  return { giver, body }
}

test('a kept body is collected from its beginning', () => {
  const { giver, body } = begun()
  let gathered: unknown
  collectBody(body.detach(), roomFor(100), (result) => {
    gathered = typeof result === 'string' ? result : result.bytes.toString()
  })
  giver.give('three')
  giver.sink.end()
  expect(gathered).toBe('one two three')
})

test('a kept body that is too large to be collected can be sent once', () => {
  const { giver, body } = begun()
  let partial: PartialBody | undefined
  collectStart(body.detach(), roomFor(5), (result) => {
    partial = result as PartialBody
  })
  const sink = new TextSink()
  partial!.pipe(sink)
  giver.give('three')
  giver.sink.end()
  expect([partial!.prefix.toString(), sink.text, sink.ended]).toEqual(['one t', 'one two three', true])
})

test.each([
  [10, 10, true],
  [11, 10, false],
])('%i bytes with memory for %i', (length, room, isWhole) => {
  const body = new KeptBody(new FixedBody('x'.repeat(length)), roomFor(room))
  const sink = new TextSink()
  body.pipe(sink)
  expect([sink.text.length, body.isWhole]).toEqual([length, isWhole])
})

test('without memory a body passes and cannot be sent again', () => {
  const { memory, ...limits } = roomFor(100, 5)
  const giver = new Giver()
  const body = new KeptBody(giver, limits)
  const sink = new TextSink()
  body.pipe(sink)
  giver.give('four')
  expect([body.isWhole, memory.heldBytes]).toEqual([true, 4])
  giver.give(' five')
  giver.sink.end()
  expect([sink.text, sink.ended, body.isWhole, memory.heldBytes]).toEqual(['four five', true, false, 0])
})

test('between two receivers a body is kept, even without memory', () => {
  const { memory, ...limits } = roomFor(100, 5)
  const giver = new Giver()
  const body = new KeptBody(giver, limits)
  body.pipe(new TextSink())
  giver.give('four')
  body.rest()
  giver.give(' five')
  const sink = new TextSink()
  body.pipe(sink)
  expect([sink.text, body.isWhole]).toEqual(['four five', true])
  limits.claim.release()
  expect(memory.heldBytes).toBe(0)
})

test('bytes that arrive between two receivers go to the next, however many', () => {
  const giver = new Giver()
  const body = new KeptBody(giver, roomFor(3))
  body.pipe(new TextSink())
  body.rest()
  giver.give('four')
  const sink = new TextSink()
  body.pipe(sink)
  giver.give(' five')
  expect([sink.text, body.isWhole]).toEqual(['four five', false])
})

test('a receiver that is backed up pauses the source', () => {
  const giver = new Giver()
  const body = new KeptBody(giver, roomFor(100))
  const sink = new TextSink()
  body.pipe(sink)
  sink.backed = true
  giver.give('x')
  expect(giver.paused).toBe(true)
  sink.source?.resume()
  expect(giver.paused).toBe(false)
})

test('an aborted source aborts every receiver', () => {
  const giver = new Giver()
  const body = new KeptBody(giver, roomFor(100))
  const [first, second] = [new TextSink(), new TextSink()]
  body.pipe(first)
  giver.sink.abort('reset')
  body.pipe(second)
  expect([first.aborted, second.aborted]).toEqual(['reset', 'reset'])
})
