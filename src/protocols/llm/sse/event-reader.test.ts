import { expect, test } from 'vitest'
import { roomFor } from '#net/testing/room-for.ts'
import { toldAnswer } from '../testing.ts'
import { EventReader } from './event-reader.ts'

/** A dialect whose stream ends with an event of its own, after a mark that is no JSON. */
class Reader extends EventReader {
  readonly events: unknown[] = []

  protected override event(name: string, event: unknown): void {
    this.events.push([name, event])
    if (name === 'end') this.complete()
    if (name === 'error') this.fail({ status: 500, type: 'x', message: 'm', code: undefined, param: undefined })
  }

  protected override isEndMark(data: string): boolean {
    return data === '[MARK]'
  }
}

const NOT_JSON = ['fail', { status: 502, message: 'an event of the stream is not JSON' }]
const TOO_LARGE = ['fail', { status: 502, message: 'an event of the stream is too large' }]
const FAILED = ['fail', { status: 500, message: 'm' }]
const LONG = `data: "${'x'.repeat(100)}"\n\n`

test.each<[stream: string, events: unknown[], told: unknown[]]>([
  [
    'event: a\ndata: {"b":1}\n\ndata: 1\n\n',
    [
      ['a', { b: 1 }],
      ['', 1],
    ],
    [],
  ],
  ['data:\n\ndata: 1\n\n', [['', 1]], []],
  ['data: [MARK]\n\ndata: 1\n\n', [['', 1]], []],
  ['event: end\ndata: 1\n\ndata: 2\n\n', [['end', 1]], [['end']]],
  ['event: end\ndata: 1\n\ndata: x\n\n', [['end', 1]], [['end']]],
  [`event: end\ndata: 1\n\n${LONG}`, [['end', 1]], [['end']]],
  ['event: error\ndata: 1\n\ndata: 2\n\n', [['error', 1]], [FAILED]],
  ['data: x\n\ndata: 1\n\n', [], [NOT_JSON]],
  [`${LONG}data: 1\n\n${LONG}`, [], [TOO_LARGE]],
  // The last event may be incomplete.
  ['data: 1\n\ndata: {"a":', [['', 1]], []],
  [
    'data: 1\n\ndata: 2',
    [
      ['', 1],
      ['', 2],
    ],
    [],
  ],
])('%j', (stream, events, told) => {
  for (const size of [30, 3]) {
    const answer = toldAnswer()
    const reader = new Reader(answer.sink, { claim: roomFor(0).claim, maxEventBytes: 50 })
    const bytes = Buffer.from(stream)
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
    reader.finish()
    expect(reader.events).toEqual(events)
    expect(answer.told).toMatchObject(told)
    expect(answer.told).toHaveLength(told.length)
  }
})

test('what is too large behind the end of a stream, in the same piece, is no failure', () => {
  const answer = toldAnswer()
  const reader = new Reader(answer.sink, { claim: roomFor(0).claim, maxEventBytes: 50 })
  reader.push(Buffer.from(`event: end\ndata: 1\n\ndata: "${'x'.repeat(100)}`))
  reader.finish()
  expect(answer.told).toEqual([['end']])
})
