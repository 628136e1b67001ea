import { beforeEach, expect, test } from 'vitest'
import { BODY_LENGTH, type BodySink } from '../stream.ts'
import { BodyReader } from './body-reader.ts'

let events: string[]
let reader: BodyReader
let sink: BodySink
beforeEach(() => {
  events = []
  reader = new BodyReader({ bodyWanted: () => events.push('wanted'), bodyHeld: () => events.push('held') })
  sink = {
    backed: false,
    source: null,
    takesFramed: false,
    bytes: () => events.push('bytes'),
    end: () => events.push('end'),
    abort: (why) => events.push(`abort ${why}`),
  }
})

test('a sink attached after the body was aborted gets the abort, and nothing is read for it', () => {
  reader.start(BODY_LENGTH, 5)
  reader.abort('reset')
  reader.pipe(sink)
  expect(events).toEqual(['abort reset'])
  expect(sink.source).toBe(null)
})

test('the connection is notified once when the body is backed up, and once when it has a consumer', () => {
  reader.start(BODY_LENGTH, 5)
  reader.pipe(sink)
  reader.resume()
  reader.pause()
  reader.pause()
  reader.resume()
  reader.resume()
  expect(events).toEqual(['wanted', 'held', 'wanted'])
})

test('a new body has no sink, however the previous one ended', () => {
  reader.start(BODY_LENGTH, 5)
  reader.pipe(sink)
  reader.start(BODY_LENGTH, 5)
  expect(reader.flowing).toBe(false)
  reader.feed(Buffer.from('hello'), 0, 5)
  expect(events).toEqual(['wanted'])
})
