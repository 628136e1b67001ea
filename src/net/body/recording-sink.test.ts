import { expect, test } from 'vitest'
import { Head } from '../http/head.ts'
import type { BodySink } from '../stream.ts'
import { TextSink } from '../testing/recording-handler.ts'
import { roomFor } from '../testing/room-for.ts'
import { FixedBody } from './fixed-body.ts'
import { RecordingSink } from './recording-sink.ts'

const recordedBy = (sink: RecordingSink) => Buffer.from(sink.recorded).toString('latin1')

test.each([
  ['', 4, ''],
  ['abc', 4, 'abc'],
  ['abcd', 4, 'abcd'],
  ['abcde', 4, 'abcd'],
  ['abcde', 0, ''],
])('of %j at most %i bytes are recorded: %j; all of it passes', (text, maxBytes, kept) => {
  const client = new TextSink()
  const sink = new RecordingSink(client, roomFor(maxBytes))
  new FixedBody(text).pipe(sink)
  expect([recordedBy(sink), client.text, client.ended]).toEqual([kept, text, true])
})

test('pieces whose memory is reused', () => {
  const client = new TextSink()
  const sink = new RecordingSink(client, roomFor(5))
  const shared = Buffer.from('-abc-')
  sink.bytes(shared, 1, 4)
  expect(recordedBy(sink)).toBe('abc')
  shared.write('-def-')
  sink.bytes(shared, 1, 4)
  sink.bytes(shared, 2, 2)
  sink.bytes(shared, 0, 5)
  expect([recordedBy(sink), client.text]).toEqual(['abcde', 'abcdef-def-'])
})

test('without memory less is recorded, and nothing after the first gap', () => {
  const client = new TextSink()
  const sink = new RecordingSink(client, roomFor(100, 5))
  for (const text of ['abc', 'defghi', 'j']) sink.bytes(Buffer.from(text), 0, text.length)
  expect([recordedBy(sink), client.text]).toEqual(['abc', 'abcdefghij'])
})

test('the record of an aborted body has what arrived; pauses, trailers and failures pass through', () => {
  const heard: unknown[] = []
  const client: BodySink = {
    backed: true,
    source: null,
    takesFramed: true,
    bytes: () => {},
    end: (trailers) => void heard.push(trailers),
    abort: (why) => void heard.push(why),
  }
  const sink = new RecordingSink(client, roomFor(10))
  expect([sink.backed, sink.takesFramed]).toEqual([true, false])
  const body = new FixedBody('x'.repeat(100_000))
  body.pipe(sink)
  expect(client.source).toBe(body)
  const trailers = Head.response(200)
  sink.end(trailers)
  sink.abort('reset')
  expect(heard).toEqual([trailers, 'reset'])
  expect(sink.recorded).toHaveLength(10)
})
