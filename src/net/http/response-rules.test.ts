import { expect, test } from 'vitest'
import { Head } from './head.ts'
import { isEventStream } from './response-rules.ts'

test.each<[types: string[], is: boolean]>([
  [['text/event-stream'], true],
  [['Text/Event-Stream ;charset=utf-8'], true],
  [['text/event-stream-x'], false],
  [['text/event-stream', 'text/plain'], false],
  [['text/event-stream; a=b', 'text/plain'], false],
])('a response of type %j is an event stream: %s', (types, is) => {
  const head = Head.response(200)
  for (const type of types) head.append('content-type', type)
  expect(isEventStream(head)).toBe(is)
})
