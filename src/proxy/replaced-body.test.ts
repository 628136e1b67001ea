import { expect, test, vi } from 'vitest'
import { Head } from '#net/http/head.ts'
import { BODY_LENGTH, BODY_NONE } from '#net/stream.ts'
import { Giver } from '#net/testing/giver.ts'
import { TextSink } from '#net/testing/recording-handler.ts'
import { ReplacedBody } from './replaced-body.ts'

test.each([
  ['', true, BODY_LENGTH, 0],
  ['', false, BODY_NONE, 0],
  ['new', true, BODY_LENGTH, 1],
])('the replaced body is read to its end, then %j is sent with its trailers', (text, trails, kind, writes) => {
  const giver = Object.assign(new Giver(), { trails })
  const own = new Head()
  own.append('x-own', '1')
  const body = new ReplacedBody(giver, Buffer.from(text), own)
  expect([body.kind, body.length]).toEqual([kind, text.length])
  const sink = new TextSink()
  const bytes = vi.spyOn(sink, 'bytes')
  body.pipe(sink)
  giver.give('old')
  expect(sink.text).toBe('')
  giver.sink.end()
  expect([sink.text, sink.ended, sink.trailers?.get('x-own'), bytes.mock.calls.length]).toEqual([
    text,
    true,
    '1',
    writes,
  ])
})
