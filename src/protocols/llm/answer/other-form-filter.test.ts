import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import type { SentSecret } from '#exchange/sent-secret.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { completionsForms } from '../completions/form-change.ts'
import { Collector } from '../testing.ts'
import { OtherForm } from './other-form.ts'

// What the filter tells while it changes the form of an answer.

/** Reads what the client gets. */
class Inner extends ForwardingSink {
  ended = 0

  override end(): void {
    this.ended++
    super.end()
  }
}

interface Formed {
  readonly secret?: SentSecret
  /** Registers listeners for the beginning and for the end. */
  readonly registers?: boolean
  readonly isGuarded?: boolean
}

function formed(streamed: boolean, maxBytes = 1000, { secret, registers = true, isGuarded = false }: Formed = {}) {
  const told: (string | undefined)[] = []
  const facts: LlmFacts = {
    ...NO_LLM,
    isGuarded,
    set errorType(type: string | undefined) {
      told.push(type)
    },
  }
  const stops: (() => void)[] = []
  const collector = new Collector()
  const inner = new Inner(collector)
  const { claim, memory } = roomFor(2 ** 26)
  const filter = new OtherForm({
    ...{ type: 'Completions', forms: completionsForms, streamed, includesUsage: true, maxBytes },
    claim,
    inner: { changesLength: false, into: () => inner },
    secret: () => secret,
    facts,
    whenOver: (stop) => {
      stops.push(stop)
    },
  })
  if (registers) {
    filter.whenBegun(() => told.push('begun'))
    filter.whenOver(() => told.push('cancel'))
  }
  const sink = filter.into(collector)
  const push = (text: string) => {
    const bytes = Buffer.from(text)
    sink.bytes(bytes, 0, bytes.length)
  }
  return { told, stops, collector, inner, filter, sink, push, memory }
}

const data = (event: object) => `data: ${JSON.stringify(event)}\n\n`
const WHOLE = JSON.stringify({ choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }] })
const STREAM = data({ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] })
const ERROR = { error: { type: 'overloaded_error', message: 'busy' } }

test.each([
  [true, WHOLE],
  [false, STREAM],
])('a stream is wanted: %j; nothing is sent before the end of the answer', (streamed, answer) => {
  const { told, collector, inner, filter, sink, push } = formed(streamed)
  expect([filter.whole, filter.changesLength, filter.mayRefuse]).toEqual([!streamed, true, true])
  push(answer.slice(0, 20))
  push(answer.slice(20))
  expect([filter.isJudging, told, collector.text, collector.ended]).toEqual([true, [], '', 0])
  sink.end()
  expect([filter.isJudging, told, collector.ended, inner.ended]).toEqual([false, ['begun'], 1, 1])
  expect(collector.text).toContain('"content":"a"')
})

test.each([
  [true, JSON.stringify(ERROR)],
  [false, data(ERROR)],
])('a stream is wanted: %j; an error is a refusal, of which no answer is read', (streamed, answer) => {
  const { told, collector, inner, filter, sink, push } = formed(streamed)
  push(answer)
  sink.end()
  expect([told, collector.ended, inner.ended, collector.text]).toEqual([['overloaded_error', 'begun'], 1, 0, ''])
  expect(filter.refusal?.status).toBe(529)
})

test.each([
  [true, 'no', undefined, 'incomplete'],
  [false, ': no\n\n', undefined, 'incomplete'],
  [true, 'no', 'reset', 'reset'],
  [false, ': no\n\n', 'reset', 'reset'],
  [true, '{}', undefined, 'llm-response-invalid'],
  [false, 'data: [DONE]\n\n', undefined, 'llm-response-invalid'],
] as const)('a stream is wanted: %j; %j that ends with %s fails as %s', (streamed, answer, why, type) => {
  const { told, filter, sink, push } = formed(streamed)
  push(answer)
  if (why === undefined) sink.end()
  else sink.abort(why)
  expect(told.filter((each) => each !== 'cancel')).toEqual([type, 'begun'])
  expect(filter.refusal?.status).toBe(502)
})

test.each([true, false])('a stream is wanted: %j; what cannot be used is not read to its end', (streamed) => {
  const { told, collector, push, sink } = formed(streamed, 50)
  push(streamed ? WHOLE : STREAM.replace('"a"', `"${'a'.repeat(100)}"`))
  push('more'.repeat(100))
  sink.end()
  expect([told, collector.ended]).toEqual([['llm-response-invalid', 'begun', 'cancel'], 1])
})

test.each([true, false])('a stream is wanted: %j; a client that leaves ends everything', (streamed) => {
  const { told, collector, filter, sink, push } = formed(streamed)
  push(streamed ? WHOLE : STREAM)
  sink.abort('cancelled')
  expect([collector.aborted, filter.isJudging, filter.refusal]).toEqual(['cancelled', false, undefined])
  push('more')
  sink.end()
  expect([told, collector.ended, collector.text]).toEqual([[], 0, ''])
})

test('what follows a complete stream is not read, and delays its end by no more than a second', async () => {
  using time = new VirtualTime()
  const { told, collector, push } = formed(false)
  push(`${STREAM}data: [DONE]\n\n`)
  push(data(ERROR))
  await time.pass(999)
  expect([told, collector.ended]).toEqual([[], 0])
  await time.pass(1)
  expect([told, collector.ended]).toEqual([['begun', 'cancel'], 1])
  await time.pass(1000)
  expect(collector.ended).toBe(1)
})

test('what follows a complete stream in the same piece is not read, either', () => {
  for (const rest of [data(ERROR), `data: ${'a'.repeat(2000)}`]) {
    const { told, collector, filter, sink, push } = formed(false)
    push(`${STREAM}data: [DONE]\n\n${rest}`)
    sink.end()
    expect([told, filter.refusal, collector.ended]).toEqual([['begun'], undefined, 1])
    expect(JSON.parse(collector.text).choices).toHaveLength(1)
  }
})

test('a stream that is not complete is awaited', async () => {
  using time = new VirtualTime()
  const { told, collector, push } = formed(false)
  push(STREAM)
  await time.pass(10_000)
  expect([told, collector.ended]).toEqual([[], 0])
  push('data: [DONE]\n\n')
  await time.pass(1000)
  expect([told, collector.ended]).toEqual([['begun', 'cancel'], 1])
})

test('the last event counts without an empty line after it', () => {
  const { told, collector, sink, push } = formed(false)
  push(STREAM.trimEnd())
  sink.end()
  expect([told, collector.ended]).toEqual([['begun'], 1])
  expect(collector.text).toContain('"content":"a"')
})

test('an event that is too large is a refusal at once', () => {
  const { told, collector, filter, push } = formed(false, 50)
  push(`data: ${'a'.repeat(20)}`)
  push('a'.repeat(20))
  expect(told).toEqual([])
  push('a'.repeat(20))
  expect([told, collector.ended]).toEqual([['llm-response-invalid', 'begun', 'cancel'], 1])
  expect([filter.refusal?.status, JSON.parse(String(filter.refusal?.body)).error.message]).toEqual([
    ...[502, 'invalid provider response: an event of the stream is too large'],
  ])
})

test('a client that leaves while it gets the answer ends everything', async () => {
  using time = new VirtualTime()
  const { told, collector, sink, push } = formed(false)
  collector.bytes = () => sink.abort('cancelled')
  push(`${STREAM}data: [DONE]\n\n`)
  await time.pass(1000)
  expect([told, collector.aborted, collector.ended]).toEqual([[], 'cancelled', 0])
})

test.each([true, false])('a stream is wanted: %j; without listeners it ends as well', (streamed) => {
  const { collector, filter, push } = formed(streamed, 50, { registers: false })
  push(`data: ${'a'.repeat(100)}`)
  expect([filter.refusal?.status, collector.ended]).toEqual([502, 1])
})

test.each([WHOLE, 'a'.repeat(1001), '{}', 'no'])('%j, instead of a stream, needs no memory at its end', (answer) => {
  const { sink, push, memory } = formed(true)
  push('  ')
  expect(memory.heldBytes).toBeGreaterThan(0)
  push(answer)
  sink.end()
  expect(memory.heldBytes).toBe(0)
})

test.each([
  [true, JSON.stringify(ERROR)],
  [false, data(ERROR)],
])('a stream is wanted: %j; where guards check answers, the log has no words of the provider', (streamed, answer) => {
  for (const [isGuarded, detail] of [
    [false, 'busy'],
    [true, "the provider's response failed: overloaded_error"],
  ] as const) {
    const { filter, sink, push } = formed(streamed, 1000, { isGuarded })
    push(answer)
    sink.end()
    expect(filter.refusal?.detail).toBe(detail)
    expect(JSON.parse(String(filter.refusal?.body)).error.message).toBe('invalid provider response: busy')
  }
})

test('an error does not show the credential of the gateway', () => {
  const secret = { hideIn: (text: string) => text.replace('busy', '***') } as SentSecret
  const { filter, sink, push } = formed(true, 1000, { secret })
  push(JSON.stringify(ERROR))
  sink.end()
  expect(JSON.parse(String(filter.refusal?.body)).error.message).toBe('invalid provider response: ***')
})

test.each(['its end', 'the end of the request'])('after %s nothing waits for a complete stream', async (what) => {
  using time = new VirtualTime()
  const { stops, collector, sink, push } = formed(false)
  push(`${STREAM}data: [DONE]\n\n`)
  if (what === 'its end') sink.end()
  else for (const stop of stops) stop()
  const { ended } = collector
  await time.pass(1000)
  expect([collector.ended, ended]).toEqual(what === 'its end' ? [1, 1] : [0, 0])
})

test('a stream may be as long as its limit', () => {
  let length = 0
  const counted = completionsForms.collector((more) => {
    length += more
    return true
  })
  counted.event('', Buffer.from(STREAM.slice('data: '.length)))
  for (const [limit, status] of [
    [length, undefined],
    [length - 1, 502],
  ] as const) {
    const { filter, sink, push } = formed(false, limit)
    push(STREAM)
    sink.end()
    expect(filter.refusal?.status).toBe(status)
  }
})

const LONG = JSON.stringify({
  choices: [...Array(20_000).keys()].map((index) => ({ index, message: { content: 'a' }, finish_reason: 'stop' })),
})

test('a long whole answer is written in several turns, and ends with the last one', async () => {
  const { collector, sink, push } = formed(true, 2 ** 24)
  push(LONG)
  sink.end()
  const atOnce = collector.text.length
  expect(collector.ended).toBe(0)
  while (collector.ended === 0) await nextTurn()
  expect(collector.text.length).toBeGreaterThan(2 * atOnce)
  expect(collector.text.endsWith('data: [DONE]\n\n')).toBe(true)
})

test('a client that leaves meanwhile gets no more of it', async () => {
  const { collector, sink, push } = formed(true, 2 ** 24)
  push(LONG)
  sink.end()
  while (collector.text === '') await nextTurn()
  sink.abort('cancelled')
  const { length } = collector.text
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  expect([collector.text.length, collector.ended]).toEqual([length, 0])
})
