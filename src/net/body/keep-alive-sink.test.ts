import { expect, test } from 'vitest'
import { TextSink } from '../testing/recording-handler.ts'
import type { WheelTimer } from '../timer-wheel.ts'
import { COMMENT, KeepAliveSink, SILENCE_MS } from './keep-alive-sink.ts'

const KEPT = new TextDecoder().decode(COMMENT)

/** A stream whose time the test advances by whole silences. */
function start() {
  let timer: WheelTimer | undefined
  let timesArmed = 0
  const received = new TextSink()
  const sink = new KeepAliveSink(received, {
    arm: (armed, ms) => {
      expect(ms).toBe(SILENCE_MS)
      timer = armed
      timesArmed++
    },
    remove: () => {
      timer = undefined
    },
  })
  // What precedes a piece in its memory is not a part of it.
  const give = (text: string) => sink.bytes(Buffer.from(`\n${text}`), 1, text.length + 1)
  const silence = () => timer?.fire()
  return { sink, received, give, silence, isArmed: () => timer !== undefined, timesArmed: () => timesArmed }
}

test.each<[what: string, pieces: readonly string[], isBetween: boolean]>([
  ['nothing', [], true],
  ['a piece without bytes', [''], true],
  ['an event and a piece without bytes', ['data: a\n\n', ''], true],
  ['a line and a piece without bytes', ['data: a\n', ''], false],
  ['an event', ['data: a\n\n'], true],
  ['an event with CR LF', ['data: a\r\n\r\n'], true],
  ['an event with CR', ['data: a\r\r'], true],
  ['an event whose lines end differently', ['data: a\n\r\n'], true],
  ['two events', ['data: a\n\ndata: b\n\n'], true],
  ['a comment', [': a\n\n'], true],
  ['a line', ['data: a\n'], false],
  ['a line with CR LF', ['data: a\r\n'], false],
  ['a part of a line', ['data: a'], false],
  ['an event and a part of the next one', ['data: a\n\ndata'], false],
  ['an event and a line of the next one', ['data: a\n\n', 'data: b\n'], false],
  ['an event in two pieces', ['data: a\n', '\n'], true],
  ['an event and its empty line', ['data: a', '\n\n'], true],
  ['an event with CR LF in two pieces', ['data: a\r\n', '\r\n'], true],
  ['an event with CR LF whose last CR LF is split', ['data: a\r\n\r', '\n'], true],
  ['an event with CR in two pieces', ['data: a\r', '\r'], true],
  ['a line whose CR LF is split', ['data: a\r', '\n'], false],
  ['a part of a line and a line end', ['data: a', '\n'], false],
  ['an event byte by byte', [...'data: a\r\n\r\n'], true],
])('behind %s, a silence has a comment: %j', (_, pieces, isBetween) => {
  const { received, give, silence } = start()
  for (const piece of pieces) give(piece)
  silence()
  silence()
  expect(received.text).toBe(pieces.join('') + (isBetween ? KEPT + KEPT : ''))
})

test('an event that is complete later has a comment then', () => {
  const { received, give, silence } = start()
  give('data: a')
  silence()
  give('b\n\n')
  silence()
  give('data: c\n\n')
  expect(received.text).toBe(`data: ab\n\n${KEPT}data: c\n\n`)
})

test('a silence begins with each piece and each comment', () => {
  const { give, silence, timesArmed } = start()
  expect(timesArmed()).toBe(1)
  give('data: a')
  silence()
  give('\n\n')
  expect(timesArmed()).toBe(4)
})

test('a client that is behind with reading gets no comment', () => {
  const { received, silence } = start()
  received.backed = true
  silence()
  expect(received.text).toBe('')
  received.backed = false
  silence()
  expect(received.text).toBe(KEPT)
})

test.each([
  ['its end', (sink: KeepAliveSink) => sink.end()],
  ['an abort', (sink: KeepAliveSink) => sink.abort('reset')],
  ['a receiver that is gone', (sink: KeepAliveSink) => sink.stop()],
])('no comment follows %s', (_, over) => {
  const { sink, isArmed } = start()
  expect(isArmed()).toBe(true)
  over(sink)
  expect(isArmed()).toBe(false)
})
