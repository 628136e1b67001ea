import { expect, test } from 'vitest'
import { Head } from '../http/head.ts'
import { BODY_LENGTH, BODY_NONE } from '../stream.ts'
import { TextSink } from '../testing/recording-handler.ts'
import { FixedBody } from './fixed-body.ts'

test.each([
  ['', BODY_NONE, 0],
  ['hello', BODY_LENGTH, 5],
  ['\u00e9', BODY_LENGTH, 2],
] as const)('%j is a body of kind %i and %i bytes', (text, kind, length) => {
  const body = new FixedBody(text)
  expect([body.kind, body.length]).toEqual([kind, length])
  for (let time = 0; time < 2; time++) {
    const sink = new TextSink()
    body.pipe(sink)
    expect([Buffer.from(sink.text, 'latin1').toString(), sink.ended]).toEqual([text, true])
  }
})

test('only trailers with fields need a body', () => {
  const trailers = Head.response(200)
  const kinds = () => {
    const { kind, trails } = new FixedBody('', trailers)
    return [kind, trails]
  }
  expect(kinds()).toEqual([BODY_NONE, false])
  trailers.set('grpc-status', '0')
  expect(kinds()).toEqual([BODY_LENGTH, true])
})

test('a part of a larger buffer is sent as that part', () => {
  const sink = new TextSink()
  new FixedBody(Buffer.from('xhellox').subarray(1, 6)).pipe(sink)
  expect(sink.text).toBe('hello')
})

test('a large body waits for a full sink', () => {
  const sink = new TextSink()
  sink.backed = true
  new FixedBody('x'.repeat(200_000)).pipe(sink)
  expect([sink.text.length, sink.ended]).toEqual([65_536, false])
  sink.source?.resume()
  expect(sink.text.length).toBe(131_072)
  sink.backed = false
  sink.source?.resume()
  expect([sink.text.length, sink.ended]).toEqual([200_000, true])
})
