import { expect, test } from 'vitest'
import { BODY_CHUNKED, BODY_CLOSE, BODY_LENGTH, BODY_NONE, type BodyKind } from './framing.ts'
import { Head } from './head.ts'
import { announcedLength, isBodiless, isEventStream, isFrameStream, sentKind } from './response-rules.ts'

test.each<[types: string[], events: boolean, frames: boolean]>([
  [['text/event-stream'], true, false],
  [['Text/Event-Stream ;charset=utf-8'], true, false],
  [['text/event-stream-x'], false, false],
  [['application/vnd.amazon.eventstream'], false, true],
  [['Application/vnd.amazon.eventStream ; a=b'], false, true],
  [['application/vnd.amazon.eventstream-x'], false, false],
  [['x-application/vnd.amazon.eventstream'], false, false],
  [[], false, false],
  [['text/event-stream', 'text/plain'], false, false],
  [['text/event-stream; a=b', 'text/plain'], false, false],
  [['application/vnd.amazon.eventstream; a=b', 'text/plain'], false, false],
])('a response of type %j is a stream of events: %s, of frames: %s', (types, events, frames) => {
  const head = Head.response(200)
  for (const type of types) head.append('content-type', type)
  expect([isEventStream(head), isFrameStream(head)]).toEqual([events, frames])
})

test.each([
  [false, 200, false],
  [true, 200, true],
  [false, 204, true],
  [false, 304, true],
  [false, 205, false],
  [false, 303, false],
])('a response, to HEAD: %s, of status %i has no body: %s', (forHead, status, bodiless) => {
  expect(isBodiless(forHead, status)).toBe(bodiless)
})

test.each<[kind: BodyKind, bodiless: boolean, toHttp10: boolean, sent: BodyKind]>([
  [BODY_NONE, false, false, BODY_NONE],
  [BODY_LENGTH, false, false, BODY_LENGTH],
  [BODY_LENGTH, false, true, BODY_LENGTH],
  [BODY_CHUNKED, false, false, BODY_CHUNKED],
  [BODY_CHUNKED, false, true, BODY_CLOSE],
  [BODY_CLOSE, false, false, BODY_CHUNKED],
  [BODY_CLOSE, false, true, BODY_CLOSE],
  [BODY_LENGTH, true, false, BODY_NONE],
  [BODY_CHUNKED, true, true, BODY_NONE],
])('a body of kind %i, bodiless: %s, to HTTP/1.0: %s, is sent as kind %i', (kind, bodiless, toHttp10, sent) => {
  expect(sentKind(kind, bodiless, toHttp10)).toBe(sent)
})

const lengths: [what: string, status: number, bodiless: boolean, kind: BodyKind, length: number, announced: number][] =
  [
    ['a body with a length', 200, false, BODY_LENGTH, 5, 5],
    ['no body', 200, false, BODY_NONE, -1, 0],
    ['no body, though a length is known', 200, false, BODY_NONE, 5, 0],
    ['chunks', 200, false, BODY_CHUNKED, -1, -1],
    ['HEAD of a body with a length', 200, true, BODY_LENGTH, 5, 5],
    ['HEAD of an empty body', 200, true, BODY_NONE, 0, 0],
    ['HEAD of chunks', 200, true, BODY_CHUNKED, 5, -1],
    ['HEAD of a body that ends with the connection', 200, true, BODY_CLOSE, 5, -1],
    ['204', 204, true, BODY_LENGTH, 5, -1],
    ['304 of a body with a length', 304, true, BODY_LENGTH, 5, 5],
    ['304 of a body of one byte', 304, true, BODY_LENGTH, 1, 1],
    ['304 without a body', 304, true, BODY_NONE, 0, -1],
  ]
test.each(lengths)('the announced length of %s', (_, status, bodiless, kind, length, announced) => {
  expect(announcedLength(status, bodiless, kind, length)).toBe(announced)
})
