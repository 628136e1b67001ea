import { expect, test } from 'vitest'
import { Head } from '../http/head.ts'
import { BODY_LENGTH } from '../stream.ts'
import { Giver } from '../testing/giver.ts'
import { TextSink } from '../testing/recording-handler.ts'
import { roomFor } from '../testing/room-for.ts'
import { FixedBody } from './fixed-body.ts'
import { TeedBody } from './teed-body.ts'

/** A body of a client with one copy. */
function teed(maxBytes = 10, limits = roomFor(maxBytes)) {
  const giver = new Giver()
  const body = new TeedBody(giver)
  let givenUp = 0
  const copy = body.copy(limits, () => givenUp++)
  const [sink, second] = [new TextSink(), new TextSink()]
  return { giver, body, copy, sink, second, limits, givenUp: () => givenUp }
}

test('a body and its copy, bytes as they arrive; trailers only for the body', () => {
  const { giver, body, copy, sink, second, givenUp } = teed()
  body.pipe(sink)
  copy.pipe(second)
  giver.give('one ')
  expect([sink.text, second.text]).toEqual(['one ', 'one '])
  giver.give('two')
  const trailers = new Head()
  trailers.append('x-sum', '2')
  giver.sink.end(trailers)
  expect([sink.text, second.text]).toEqual(['one two', 'one two'])
  expect([sink.ended, second.ended, sink.trailers?.get('x-sum'), second.trailers]).toEqual([true, true, '2', undefined])
  body.close()
  expect(givenUp()).toBe(0)
})

test('form and length are those of the body', () => {
  const body = new TeedBody(new Giver(BODY_LENGTH, 7))
  const copy = body.copy(roomFor(9), () => {})
  expect([body.kind, body.length, body.trails]).toEqual([BODY_LENGTH, 7, true])
  expect([copy.kind, copy.length, copy.trails]).toEqual([BODY_LENGTH, 7, undefined])
})

test('a body that is there at once', () => {
  const body = new TeedBody(new FixedBody('whole'))
  const copies = [body.copy(roomFor(9), () => {}), body.copy(roomFor(9), () => {})]
  const sinks = [new TextSink(), new TextSink(), new TextSink()]
  body.pipe(sinks[0]!)
  for (const [i, copy] of copies.entries()) copy.pipe(sinks[i + 1]!)
  expect(sinks.map(({ text, ended }) => [text, ended])).toEqual(Array(3).fill(['whole', true]))
})

test('a copy is held until it has a receiver, and while the receiver is slow; the body does not wait for it', () => {
  const { giver, body, copy, sink, second, limits } = teed()
  body.pipe(sink)
  giver.give('one ')
  expect(limits.memory.heldBytes).toBeGreaterThan(0)
  copy.pipe(second)
  expect([second.text, limits.memory.heldBytes]).toEqual(['one ', 0])
  second.backed = true
  giver.give('two ')
  giver.give('three')
  expect([giver.paused, sink.text, second.text]).toEqual([false, 'one two three', 'one '])
  second.backed = false
  second.source!.resume()
  giver.sink.end()
  expect([second.text, second.ended]).toEqual(['one two three', true])
})

test('the end waits for the receiver of the copy', () => {
  const { giver, body, copy, sink, second } = teed()
  second.backed = true
  body.pipe(sink)
  copy.pipe(second)
  giver.give('one')
  giver.sink.end()
  body.close()
  expect([sink.ended, second.text, second.ended]).toEqual([true, '', false])
  second.backed = false
  second.source!.resume()
  expect([second.text, second.ended]).toEqual(['one', true])
  second.source!.resume()
  expect(second.text).toBe('one')
})

test.each([
  ['more bytes than allowed', teed(3)],
  ['no memory', teed(10, roomFor(10, 3))],
])('%s: the copy is given up, and the body continues', (_, { giver, body, copy, sink, second, limits, givenUp }) => {
  second.backed = true
  body.pipe(sink)
  copy.pipe(second)
  giver.give('one')
  expect(givenUp()).toBe(0)
  giver.give(' two')
  giver.give(' three')
  giver.sink.end()
  expect([givenUp(), sink.text, sink.ended, limits.memory.heldBytes]).toEqual([1, 'one two three', true, 0])
  second.backed = false
  second.source!.resume()
  expect([second.text, second.ended]).toEqual(['', false])
})

test('only the receiver of the body slows its source', () => {
  const { giver, body, copy, sink, second } = teed()
  body.pipe(sink)
  copy.pipe(second)
  sink.backed = true
  giver.give('one')
  expect([giver.paused, second.text]).toEqual([true, 'one'])
  sink.source!.resume()
  expect(giver.paused).toBe(false)
  sink.source!.pause()
  expect(giver.paused).toBe(true)
})

test('a body that breaks off, or whose request ends, gives its copies up', () => {
  const broken = teed()
  broken.body.pipe(broken.sink)
  broken.giver.give('one')
  broken.giver.sink.abort('reset')
  expect([broken.sink.aborted, broken.givenUp()]).toEqual(['reset', 1])
  const left = teed()
  left.body.close()
  expect(left.givenUp()).toBe(1)
})
