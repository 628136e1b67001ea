import { beforeEach, expect, test } from 'vitest'
import { BODY_CHUNKED, BODY_CLOSE, BODY_LENGTH, BODY_NONE, type BodyKind, type BodySink } from '../stream.ts'
import { BodyReader } from './body-reader.ts'

let events: string[]
let reader: BodyReader
let sink: BodySink & { backed: boolean; takesFramed: boolean }
beforeEach(() => {
  events = []
  reader = new BodyReader({ bodyWanted: () => events.push('wanted'), bodyHeld: () => events.push('held') })
  sink = {
    backed: false,
    source: null,
    takesFramed: false,
    bytes: (buffer, start, end) => events.push(buffer.latin1Slice(start, end)),
    end: () => events.push('end'),
    abort: (why) => events.push(`abort ${why}`),
  }
})

/** @returns how many bytes are of the body */
function feed(text: string): number {
  return reader.feed(Buffer.from(text, 'latin1'), 0, text.length)
}

test('before the first message there is no body, and nothing to resume', () => {
  reader.resume()
  expect([reader.kind, reader.length, reader.left, reader.done, reader.flowing]).toEqual([
    BODY_NONE,
    -1,
    0,
    true,
    false,
  ])
  expect(events).toEqual([])
})

test('the sink gets the payload; the owner ends the body', () => {
  reader.start(BODY_LENGTH, 5)
  expect([reader.kind, reader.length, reader.left, reader.done, reader.flowing]).toEqual([
    BODY_LENGTH,
    5,
    5,
    false,
    false,
  ])
  reader.pipe(sink)
  expect([reader.flowing, sink.source === reader]).toEqual([true, true])
  expect(feed('hel')).toBe(3)
  expect([reader.left, reader.done]).toEqual([2, false])
  expect(feed('lo, next')).toBe(2)
  expect([reader.left, reader.done, reader.bad]).toEqual([0, true, false])
  reader.end()
  expect([reader.flowing, sink.source]).toEqual([false, null])
  reader.end()
  reader.abort('reset')
  expect(events).toEqual(['wanted', 'hel', 'lo', 'end'])
})

test.each<[kind: BodyKind, takesFramed: boolean, framed: boolean | undefined, events: string[]]>([
  [BODY_CHUNKED, false, undefined, ['wanted', 'ab']],
  [BODY_CHUNKED, true, true, ['wanted', '2\r\nab\r\n0\r\n\r\n']],
  [BODY_CLOSE, true, false, ['wanted', '2\r\nab\r\n0\r\n\r\n']],
])('a body of kind %i for a sink that takes chunks as they are: %s', (kind, takesFramed, framed, expected) => {
  sink.takesFramed = takesFramed
  reader.start(kind, -1)
  reader.pipe(sink)
  expect(sink.framed).toBe(framed)
  feed('2\r\nab\r\n0\r\n\r\n')
  expect(events).toEqual(expected)
})

test('an invalid framing is known, and so is the end of a connection that ends a body', () => {
  reader.start(BODY_CHUNKED, -1)
  reader.pipe(sink)
  feed('zz')
  expect([reader.bad, reader.close()]).toEqual([true, false])
  reader.start(BODY_CLOSE, -1)
  expect([reader.bad, reader.left, reader.close(), reader.done]).toEqual([false, -1, true, true])
})

test('a sink of a body that has been read gets its end at once', () => {
  reader.start(BODY_NONE, 0)
  reader.pipe(sink)
  expect(events).toEqual(['end'])
})

test('a sink attached after the body was aborted gets the abort, and nothing is read for it', () => {
  reader.start(BODY_LENGTH, 5)
  reader.abort('reset')
  reader.pipe(sink)
  expect(events).toEqual(['abort reset'])
  expect(sink.source).toBe(null)
})

test('a discarded body has no consumer', () => {
  reader.start(BODY_LENGTH, 5)
  reader.pipe(sink)
  reader.discard()
  expect([reader.flowing, feed('hello'), reader.done]).toEqual([true, 5, true])
  expect(events).toEqual(['wanted', 'abort cancelled'])
})

test('a sink that has another source keeps it', () => {
  const other = new BodyReader({ bodyWanted: () => {}, bodyHeld: () => {} })
  other.start(BODY_LENGTH, 5)
  reader.start(BODY_LENGTH, 5)
  reader.pipe(sink)
  other.pipe(sink)
  reader.abort('reset')
  expect(sink.source).toBe(other)
})

test('the connection is notified once when the body is backed up, and once when it has a consumer', () => {
  reader.start(BODY_LENGTH, 5)
  reader.pipe(sink)
  reader.resume()
  reader.pause()
  reader.pause()
  expect(reader.flowing).toBe(false)
  reader.resume()
  reader.resume()
  expect(events).toEqual(['wanted', 'held', 'wanted'])
})

test('a sink that is backed up holds the connection', () => {
  reader.start(BODY_LENGTH, 5)
  reader.pipe(sink)
  sink.backed = true
  feed('hel')
  expect([reader.flowing, events]).toEqual([false, ['wanted', 'hel', 'held']])
  reader.pipe(sink)
  expect(reader.flowing).toBe(true)
})

test('a new body has no sink, however the previous one ended', () => {
  reader.start(BODY_LENGTH, 5)
  reader.pipe(sink)
  reader.start(BODY_LENGTH, 5)
  expect(reader.flowing).toBe(false)
  feed('hello')
  expect(events).toEqual(['wanted'])
})

test('a new body is not paused, discarded or aborted like the previous one', () => {
  reader.start(BODY_LENGTH, 5)
  reader.pipe(sink)
  reader.pause()
  reader.discard()
  reader.start(BODY_LENGTH, 5)
  events.length = 0
  reader.resume()
  expect([reader.flowing, events]).toEqual([false, []])
  reader.pipe(sink)
  expect([reader.flowing, events]).toEqual([true, ['wanted']])
})
