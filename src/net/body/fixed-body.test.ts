import { expect, test } from 'vitest'
import { BODY_LENGTH, BODY_NONE, type BodySink, type BodySource } from '../stream.ts'
import { TextSink } from '../testing/recording-handler.ts'
import { type Collected, collectBody } from './collect-body.ts'
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

function collect(source: BodySource, maxBytes: number): Collected | undefined {
  let result: Collected | undefined
  collectBody(source, maxBytes, (one) => {
    expect(result).toBeUndefined()
    result = one
  })
  return result
}

/** A body of unknown length that comes in these parts, in memory that changes afterwards. */
function inParts(parts: readonly string[], end: 'end' | 'reset'): BodySource {
  return {
    kind: 2,
    length: -1,
    pause: () => {},
    resume: () => {},
    pipe: (sink: BodySink) => {
      for (const part of parts) {
        const memory = Buffer.from(part)
        sink.bytes(memory, 0, memory.length)
        memory.fill(0)
      }
      if (end === 'end') sink.end()
      else sink.abort(end)
    },
  }
}

test.each([
  [[], 0, 'end', ''],
  [['ab'], 2, 'end', 'ab'],
  [['ab', 'c', 'de'], 5, 'end', 'abcde'],
  [['ab', 'c', 'de'], 4, 'end', 'too-large'],
  [['ab', 'c', 'de'], 4, 'reset', 'too-large'],
  [['ab'], 5, 'reset', 'reset'],
] as const)('collecting %j with room for %i, ending with %s: %j', (parts, maxBytes, end, expected) => {
  expect(collect(inParts(parts, end), maxBytes)?.toString()).toBe(expected)
})

test('an announced length that is too large is not read at all', () => {
  expect(collect(new FixedBody('hello'), 4)).toBe('too-large')
  expect(collect(new FixedBody('hello'), 5)?.toString()).toBe('hello')
})
