import { expect, test, vi } from 'vitest'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { NO_STEPS } from '#exchange/run-context.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { type DecodingEvents, RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import type { BodySink } from '#net/stream.ts'
import { eventually } from '#test/support/eventually.ts'
import type { AnswerFilter } from '../../backend-protocol.ts'
import { unusableAnswer } from '../facts/stream-error.ts'
import { Collector } from '../testing.ts'
import { DecodedStream } from './decoded-stream.ts'

test('a damaged stream is broken, whether or not the rest of it can be cancelled', async () => {
  for (const cancel of [undefined, vi.fn()]) {
    const wrap = RESPONSE_DECODING.into('gzip')!
    const filter = { changesLength: false, into: (sink: Collector) => new ForwardingSink(sink) }
    const stream = new DecodedStream(filter as never, { wrap, context: NO_STEPS, refusal: undefined })
    if (cancel !== undefined) stream.whenOver(cancel)
    const collector = new Collector()
    const sink = stream.into(collector)
    sink.bytes(Buffer.from('no gzip'), 0, 7)
    await eventually('the end', () => collector.aborted)
    expect([collector.aborted, cancel?.mock.calls.length ?? 1]).toEqual(['protocol-error', 1])
  }
})

const REFUSAL = reject('llm-response-invalid')
const OF_FILTER = reject('upstream-failed')
const FAILURE = unusableAnswer('of the filter')

/** A stream for a filter with these members, and what its decoding tells. */
function decodedFor(
  members: Partial<AnswerFilter>,
  { refusal }: { readonly refusal: Refusal | undefined } = { refusal: REFUSAL },
) {
  const stops: (() => void)[] = []
  const told: { events?: DecodingEvents } = {}
  const inner = new Collector()
  const filter: AnswerFilter = {
    changesLength: false,
    refusal: OF_FILTER,
    failure: FAILURE,
    into: () => inner,
    ...members,
  }
  const context = { ...NO_STEPS, whenOver: (stop: () => void) => void stops.push(stop) }
  const wrap = (sink: BodySink, events: DecodingEvents) => {
    told.events = events
    return sink
  }
  const stream = new DecodedStream(filter, { wrap, context, refusal })
  expect(stream.into(new Collector())).toBe(inner)
  return { stream, events: told.events!, stops }
}

test.each([true, false, undefined])(
  'a filter decides whether the stream is needed whole, may be refused, or is judged: %j',
  (is) => {
    const { stream } = decodedFor(is === undefined ? {} : { whole: is, mayRefuse: is, isJudging: is })
    expect([stream.whole, stream.mayRefuse, stream.isJudging]).toEqual([is === true, is === true, is === true])
    expect(stream.changesLength).toBe(true)
  },
)

test('only a filter that tells of its beginning is asked for it', () => {
  expect(decodedFor({}).stream.whenBegun).toBeUndefined()
  let begin = () => {}
  const whenBegun = (begun: () => void) => {
    begin = begun
  }
  const { stream } = decodedFor({ whenBegun })
  const begun = vi.fn()
  stream.whenBegun!(begun)
  expect(begun).not.toHaveBeenCalled()
  begin()
  expect(begun).toHaveBeenCalledOnce()
})

test.each<[what: string, happens: ('begun' | 'damaged')[], whole: boolean, isRefused: boolean]>([
  ['nothing', [], false, false],
  ['the first content', ['begun'], false, false],
  ['the first content of a whole answer', ['begun'], true, false],
  ['damage before the first content', ['damaged'], false, true],
  ['damage that its filter takes for content', ['damaged', 'begun'], false, true],
  ['damage after the first content', ['begun', 'damaged'], false, false],
  ['damage in a whole answer', ['begun', 'damaged'], true, true],
])('after %s', (_, happens, whole, isRefused) => {
  let begin = () => {}
  const whenBegun = (begun: () => void) => {
    begin = begun
  }
  for (const refusal of [REFUSAL, undefined]) {
    const { stream, events } = decodedFor({ whole, whenBegun }, { refusal })
    stream.whenBegun!(() => {})
    for (const each of happens) (each === 'begun' ? begin : events.damaged)()
    expect(stream.refusal).toBe(isRefused ? (refusal ?? OF_FILTER) : OF_FILTER)
    expect(stream.failure).toEqual(happens.includes('damaged') ? unusableAnswer('content coding') : FAILURE)
  }
})

test('the decoder and the filter can cancel the rest, and the decoder ends with the request', () => {
  let given: (() => void) | undefined
  const { stream, events, stops } = decodedFor({
    whenOver: (cancel) => {
      given = cancel
    },
  })
  events.cancel()
  const cancel = vi.fn()
  stream.whenOver(cancel)
  expect(given).toBe(cancel)
  events.cancel()
  expect(cancel).toHaveBeenCalledOnce()
  const stop = () => {}
  events.whenOver(stop)
  expect(stops).toEqual([stop])
})
