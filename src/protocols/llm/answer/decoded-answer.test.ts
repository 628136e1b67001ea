import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { decodeReceived } from '#net/body/decode-content.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { roomFor } from '#net/testing/room-for.ts'
import type { AnswerFilter } from '../../backend-protocol.ts'
import { Collector } from '../testing.ts'
import { DecodedAnswer } from './decoded-answer.ts'
import { unusableAnswer } from './stream-error.ts'

const REFUSAL = reject('llm-response-invalid')
const OF_FILTER = reject('upstream-failed')

/** A filter that changes nothing, and finds fault with every answer. */
function setup({ isError = false, maxBytes = 2_000_000 } = {}) {
  const refusal = isError ? undefined : REFUSAL
  let begins = 0
  const filter: AnswerFilter = {
    changesLength: false,
    refusal: OF_FILTER,
    failure: unusableAnswer('of the filter'),
    whenBegun: () => void begins++,
    into: (sink) => new ForwardingSink(sink),
  }
  const { claim, memory } = roomFor(0)
  const answer = new DecodedAnswer(filter, { coding: 'gzip', claim, decode: decodeReceived, maxBytes, refusal })
  const collector = new Collector()
  const sink = answer.into(collector)
  const give = (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += 1000) sink.bytes(bytes, at, Math.min(at + 1000, bytes.length))
  }
  return { answer, collector, sink, give, memory, begins: () => begins }
}

test('an answer is decoded at its end, and its filter sees only that', () => {
  const { answer, collector, sink, give, memory, begins } = setup()
  give(gzipSync('hello '.repeat(1000)))
  expect([collector.text, memory.heldBytes > 0]).toEqual(['', true])
  sink.end()
  expect([collector.text, collector.calls, collector.ended, memory.heldBytes]).toEqual(['hello '.repeat(1000), 1, 1, 0])
  expect([answer.refusal, answer.failure?.detail, begins()]).toEqual([
    OF_FILTER,
    "the provider's response is unusable: of the filter",
    1,
  ])
  expect([answer.whole, answer.changesLength]).toEqual([true, true])
})

test('what has arrived of a broken answer is decoded, unless the gateway cancelled it', () => {
  for (const [why, text] of [
    ['reset', 'hello'],
    ['cancelled', ''],
  ] as const) {
    const { collector, sink, give } = setup()
    give(gzipSync('hello'))
    sink.abort(why)
    expect([collector.text, collector.aborted, collector.ended]).toEqual([text, why, 0])
  }
})

test.each<[what: string, bytes: Buffer, maxBytes: number | undefined]>([
  ['damaged', Buffer.from('hello'), undefined],
  ['too large when decoded', gzipSync('x'.repeat(1000)), 999],
  ['too large to be decoded in one turn', Buffer.concat([gzipSync('hello'), Buffer.alloc(1024 * 1024)]), undefined],
])('an answer that is %s is refused, or empty', (_what, bytes, maxBytes) => {
  const { answer, collector, sink, give, memory } = setup({ maxBytes })
  give(bytes)
  sink.end()
  expect([collector.text, collector.ended, memory.heldBytes]).toEqual(['', 1, 0])
  expect([answer.refusal, answer.failure?.detail, answer.failure?.unhealthy]).toEqual([
    REFUSAL,
    "the provider's response is unusable: content coding",
    true,
  ])
})

test('an answer that is too large is over at once, and the rest is not read', () => {
  const { answer, collector, sink, give, memory } = setup()
  let cancelled = 0
  answer.whenOver(() => {
    cancelled++
    sink.abort('cancelled')
  })
  give(Buffer.alloc(1024 * 1024))
  expect([collector.ended, cancelled]).toEqual([0, 0])
  give(Buffer.alloc(5000))
  sink.end()
  expect([collector.text, collector.ended, collector.aborted, cancelled]).toEqual(['', 1, undefined, 1])
  expect([answer.refusal, memory.heldBytes]).toEqual([REFUSAL, 0])
})

test('an error that cannot be decoded stays what its filter makes of it', () => {
  const { answer, give, sink, collector } = setup({ isError: true })
  give(Buffer.from('hello'))
  sink.end()
  expect([collector.text, answer.refusal]).toEqual(['', undefined])
  expect(answer.failure?.detail).toBe("the provider's response is unusable: of the filter")
})
