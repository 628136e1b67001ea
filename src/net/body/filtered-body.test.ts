import { expect, test } from 'vitest'
import { Head } from '../http/head.ts'
import { BODY_CHUNKED, BODY_LENGTH, BODY_NONE, type BodyKind, type BodySink } from '../stream.ts'
import { Giver } from '../testing/giver.ts'
import { TextSink } from '../testing/recording-handler.ts'
import { roomFor } from '../testing/room-for.ts'
import { collectBody, collectStart, type PartialBody } from './collect-body.ts'
import { FilteredBody } from './filtered-body.ts'
import { ForwardingSink } from './forwarding-sink.ts'
import { HoldingSink } from './holding-sink.ts'

/** Numbers the pieces, so that a restarted filter would be noticed. */
class Numbering extends ForwardingSink {
  #pieces = 0

  override bytes(buffer: Buffer, start: number, end: number): void {
    const text = Buffer.from(`${++this.#pieces}:${buffer.toString('latin1', start, end)} `)
    this.sink.bytes(text, 0, text.length)
  }
}

const numbered = (changesLength: boolean) => ({ changesLength, into: (sink: BodySink) => new Numbering(sink) })

const framings: [BodyKind, number, boolean, BodyKind, number][] = [
  [BODY_LENGTH, 5, true, BODY_CHUNKED, -1],
  [BODY_LENGTH, 5, false, BODY_LENGTH, 5],
  [BODY_CHUNKED, -1, true, BODY_CHUNKED, -1],
  [BODY_NONE, -1, true, BODY_CHUNKED, -1],
  [BODY_NONE, -1, false, BODY_NONE, -1],
]

test.each(framings)(
  'kind %i of length %i, changed %s, is announced as %i of %i',
  (kind, length, changes, expected, announced) => {
    const body = new FilteredBody(new Giver(kind, length), numbered(changes))
    expect([body.kind, body.length]).toEqual([expected, announced])
  },
)

test('the collected body is the output of the filter', () => {
  const giver = new Giver(BODY_LENGTH, 2)
  let gathered = ''
  collectBody(new FilteredBody(giver, numbered(true)), roomFor(100), (result) => {
    gathered = typeof result === 'string' ? result : result.bytes.toString()
  })
  giver.give('a')
  giver.give('b')
  giver.sink.end()
  expect(gathered).toBe('1:a 2:b ')
})

/** Emits its output only at the end, like a filter that waits for a whole document. */
class Holding extends ForwardingSink {
  #text = ''

  override bytes(buffer: Buffer, start: number, end: number): void {
    this.#text += buffer.toString('latin1', start, end)
  }

  override end(trailers?: Head): void {
    this.sink.bytes(Buffer.from(this.#text), 0, this.#text.length)
    this.sink.end(trailers)
  }
}

test.each<[ends: 'end' | 'reset', expected: unknown[]]>([
  ['end', ['1:a 2:bc ', true, '7', undefined]],
  ['reset', ['1:a 2:bc ', false, undefined, 'reset']],
])('a receiver attached after the last byte gets the end: %s', (ends, expected) => {
  const giver = new Giver(BODY_LENGTH, 3)
  let partial: PartialBody | undefined
  collectStart(new FilteredBody(giver, numbered(true)), roomFor(5), (result) => {
    partial = result as PartialBody
  })
  giver.give('a')
  giver.give('bc')
  const trailers = new Head()
  trailers.append('x-sum', '7')
  if (ends === 'end') giver.sink.end(trailers)
  else giver.sink.abort(ends)
  trailers.reset()
  const client = new TextSink()
  partial!.pipe(client)
  expect([client.text, client.ended, client.trailers?.get('x-sum'), client.aborted]).toEqual(expected)
})

test('output that a filter emits at the end exceeds the limit of the collector', () => {
  const giver = new Giver(BODY_CHUNKED, -1)
  let partial: PartialBody | undefined
  const body = new FilteredBody(giver, { changesLength: true, into: (sink) => new Holding(sink) })
  collectStart(body, roomFor(2), (result) => {
    partial = result as PartialBody
  })
  giver.give('abc')
  giver.sink.end()
  const client = new TextSink()
  partial!.pipe(client)
  expect([client.text, client.ended]).toEqual(['abc', true])
})

test('a receiver that takes over gets the rest through the same filter, and the source continues', () => {
  const giver = new Giver(BODY_CHUNKED, -1)
  let partial: PartialBody | undefined
  collectStart(new FilteredBody(giver, numbered(true)), roomFor(5), (result) => {
    partial = result as PartialBody
  })
  giver.give('a')
  giver.give('b')
  expect(giver.paused).toBe(true)
  const client = new TextSink()
  partial!.pipe(client)
  expect(giver.paused).toBe(false)
  giver.give('c')
  giver.sink.end()
  expect(client.text).toBe('1:a 2:b 3:c ')
  expect(client.ended).toBe(true)
})

/** Passes nothing on while its receiver is full, and tells its source nothing of that. */
class Reluctant extends HoldingSink {
  #held = ''

  override get backed(): boolean {
    return false
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    this.#held += buffer.toString('latin1', start, end)
    this.drained()
  }

  protected drained(): void {
    if (this.sink.backed) return
    const bytes = Buffer.from(this.#held)
    this.#held = ''
    this.sink.bytes(bytes, 0, bytes.length)
  }
}

test('a filter that holds bytes goes on with them when its receiver is replaced', () => {
  const giver = new Giver(BODY_CHUNKED, -1)
  let start: PartialBody | undefined
  let stop = () => {}
  const body = new FilteredBody(giver, { changesLength: true, into: (sink: BodySink) => new Reluctant(sink) })
  collectStart(
    body,
    { ...roomFor(100), maxBytes: 100 },
    (result) => {
      start = result as PartialBody
    },
    (registered) => {
      stop = registered
    },
  )
  giver.give('a')
  stop()
  giver.give('b')
  const sink = new TextSink()
  start!.pipe(sink)
  expect(sink.text).toBe('ab')
})
