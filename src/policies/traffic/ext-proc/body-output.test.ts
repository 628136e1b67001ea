import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { BODY_CHUNKED } from '#net/stream.ts'
import { TextSink } from '#net/testing/recording-handler.ts'
import { BodyOutput } from './body-output.ts'

function outputWith() {
  const state = { held: 0, drained: 0 }
  const shape = { kind: BODY_CHUNKED, length: -1, trails: true } as const
  const hold = (bytes: number) => {
    state.held += bytes
  }
  return { state, output: new BodyOutput(shape, hold, () => state.drained++) }
}

const bytes = (text: string) => new TextEncoder().encode(text)

test('what is written before the receiver waits for it, and counts as memory', () => {
  const { state, output } = outputWith()
  output.write(bytes('hello'))
  output.write(bytes(''))
  output.end()
  expect([state.held, output.queuedBytes, output.full]).toEqual([5, 5, false])
  const sink = new TextSink()
  output.pipe(sink)
  expect([sink.text, sink.ended, state.held]).toEqual(['hello', true, 0])
})

test('a receiver without room gets the rest, and the end, when it has some', () => {
  const { state, output } = outputWith()
  const sink = new TextSink()
  output.pipe(sink)
  output.write(bytes('a'))
  sink.backed = true
  output.write(bytes('b'.repeat(70_000)))
  output.end()
  expect([sink.text, sink.ended, output.full, state.held]).toEqual(['a', false, true, 70_000])
  sink.backed = false
  sink.source!.resume()
  expect([sink.text.length, sink.ended, output.full, state]).toEqual([70_001, true, false, { held: 0, drained: 1 }])
})

test('another receiver gets the rest', () => {
  const { output } = outputWith()
  const first = new TextSink()
  const second = new TextSink()
  output.pipe(first)
  output.write(bytes('a'))
  first.backed = true
  output.write(bytes('b'))
  output.end()
  output.pipe(second)
  expect([first.text, first.ended, second.text, second.ended]).toEqual(['a', false, 'b', true])
})

test('trailers end it, once', () => {
  const { output } = outputWith()
  const trailers = new Head()
  trailers.append('x-sum', '1')
  const sink = new TextSink()
  output.pipe(sink)
  output.end(trailers)
  output.end()
  expect([sink.ended, sink.trailers?.get('x-sum')]).toEqual([true, '1'])
})

test('a failure reaches the receiver, also a later one', () => {
  const [early, late] = [new TextSink(), new TextSink()]
  const { output } = outputWith()
  output.pipe(early)
  output.abort('reset')
  expect(early.aborted).toBe('reset')
  const other = outputWith().output
  other.abort('timeout')
  other.pipe(late)
  expect([late.aborted, late.ended]).toEqual(['timeout', false])
})
