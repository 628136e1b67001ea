import { expect, test } from 'vitest'
import { accepts, mediaTypeOf } from './accept.ts'

const cases: [accept: string | undefined, json: boolean, stream: boolean][] = [
  [undefined, true, true],
  ['*/*', true, true],
  ['application/json, text/event-stream', true, true],
  ['application/json;q=0.9,TEXT/Event-Stream;q=0.1', true, true],
  ['application/*, text/*', true, true],
  ['application/json', true, false],
  ['text/event-stream', false, true],
  ['text/html', false, false],
  ['application/json-seq, text/event-streams', false, false],
  ['application/json;q=0, text/event-stream; q=0.0', false, false],
  ['', false, false],
]

test.each(cases)('Accept: %s', (accept, json, stream) => {
  expect(accepts(accept, 'application/json')).toBe(json)
  expect(accepts(accept, 'text/event-stream')).toBe(stream)
})

test('a media type without what follows', () => {
  expect(mediaTypeOf('Application/JSON; charset=utf-8')).toBe('application/json')
  expect(mediaTypeOf(undefined)).toBe('')
})
