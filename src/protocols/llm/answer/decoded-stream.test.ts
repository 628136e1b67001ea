import { expect, test, vi } from 'vitest'
import { NO_STEPS } from '#exchange/run-context.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import { eventually } from '#test/support/eventually.ts'
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
