import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { decodeReceived } from '#net/body/decode-content.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { roomFor } from '#net/testing/room-for.ts'
import type { AnswerFilter } from '../../backend-protocol.ts'
import { unusableAnswer } from '../facts/stream-error.ts'
import { Collector } from '../testing.ts'
import { DecodedAnswer } from './decoded-answer.ts'

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

/** An answer for a filter with these members; an answer with `!` cannot be decoded. */
function decodedFor(members: Partial<AnswerFilter>, refusal = true) {
  const inner = new Collector()
  const filter: AnswerFilter = { changesLength: false, into: () => inner, ...members }
  const { claim } = roomFor(0)
  const answer = new DecodedAnswer(filter, {
    ...{ coding: 'x', claim, maxBytes: 100, refusal: refusal ? REFUSAL : undefined },
    decode: (_, bytes) => (bytes.includes(0x21) ? undefined : bytes),
  })
  const client = new Collector()
  const sink = answer.into(client)
  const push = (text: string) => sink.bytes(Buffer.from(text), 0, text.length)
  return { answer, inner, client, sink, push }
}

test.each([
  [undefined, undefined, true],
  [true, undefined, true],
  [true, true, true],
  [false, false, true],
  [undefined, true, false],
  [false, true, false],
])('whole: %j, may refuse: %j; the decoded answer is needed whole: %j', (whole, mayRefuse, isWhole) => {
  const { answer } = decodedFor({ ...(whole === undefined ? {} : { whole }), ...(mayRefuse ? { mayRefuse } : {}) })
  expect([answer.whole, answer.mayRefuse]).toEqual([isWhole, true])
})

test('an answer is judged until the filter has begun', () => {
  let begin = () => {}
  const whenBegun = (begun: () => void) => {
    begin = begun
  }
  const { answer, sink, push } = decodedFor({ whenBegun })
  const begun: boolean[] = []
  answer.whenBegun(() => begun.push(answer.isJudging))
  push('a')
  sink.end()
  expect([answer.isJudging, begun]).toEqual([true, []])
  begin()
  expect([answer.isJudging, begun]).toEqual([false, [false]])
})

test('a filter that tells nothing of its beginning is used as well', () => {
  let cancel: (() => void) | undefined
  const { answer, inner, sink, push } = decodedFor({
    whenOver: (given) => {
      cancel = given
    },
  })
  const cancelled = () => {}
  answer.whenOver(cancelled)
  expect(cancel).toBe(cancelled)
  push('a')
  sink.end()
  expect([inner.text, inner.ended, answer.isJudging]).toEqual(['a', 1, true])
})

test.each([true, false])('an answer that cannot be decoded is judged; it has a refusal: %j', (hasRefusal) => {
  const { answer, inner, client, sink, push } = decodedFor({}, hasRefusal)
  push('a!')
  sink.end()
  expect([answer.isJudging, answer.refusal]).toEqual([false, hasRefusal ? REFUSAL : undefined])
  // With a refusal, nothing has to be made of an empty body.
  expect([inner.ended, client.ended]).toEqual(hasRefusal ? [0, 1] : [1, 0])
})
