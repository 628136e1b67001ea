import { expect, test } from 'vitest'
import type { Outcome } from '#exchange/outcome.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { BODY_NONE } from '#net/stream.ts'
import { Giver } from '#net/testing/giver.ts'
import { TextSink } from '#net/testing/recording-handler.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { HASHING } from '#test/support/hashing.ts'
import { verifyEvents } from '#test/support/verify-events.ts'
import { exchangeWith, runContext } from '../../../shared/testing.ts'
import { RequestSigner } from './request-signer.ts'
import { SignedEvents } from './signed-events.ts'

const KEYS = { accessKey: 'AKIDEXAMPLE', secretKey: 'secret', sessionToken: undefined }
const SCOPE = { service: 'transcribe', region: 'eu-west-1' }
const HEADERS = encodeHeaders([{ name: ':event-type', type: 'text', value: 'AudioEvent' }])

const event = (payload: string) => Buffer.from(encodeEvent(HEADERS, Buffer.from(payload)))
/** The wrapping by a client that signs its events. */
const wrapped = (payload: Uint8Array) =>
  Buffer.from(
    encodeEvent(
      encodeHeaders([
        { name: ':date', type: 'timestamp', value: 1 },
        { name: ':chunk-signature', type: 'bytes', value: new Uint8Array(32) },
      ]),
      payload,
    ),
  )

function open(body = new Giver(), { maxBytes = 1000, memory = 10_000 } = {}) {
  const exchange = exchangeWith({ method: 'POST' })
  const interrupts: unknown[] = []
  const interrupt = (why: NonNullable<Outcome> | Error) => {
    interrupts.push('code' in why ? `${String(why.code)}: ${String(why.detail)}` : why)
  }
  exchange.context = runContext({ interrupt })
  const signer = new RequestSigner(SCOPE, HASHING).signEvents(exchange.request, KEYS, Date.now())
  const seed = exchange.request.get('authorization')!.slice(-64)
  const sink = new TextSink()
  const signed = new SignedEvents(body, roomFor(maxBytes, memory), signer, exchange)
  signed.pipe(sink)
  const verified = () => {
    const { body, fault } = verifyEvents(Buffer.from(sink.text, 'latin1'), seed, {
      ...SCOPE,
      secretAccessKey: 'secret',
    })
    return { events: body.toString('latin1'), fault }
  }
  const give = (...pieces: Buffer[]) => {
    for (const piece of pieces) body.sink.bytes(piece, 0, piece.length)
  }
  return { give, sink, body, interrupts, verified, signed }
}

test('each event is sent when it is complete, signed as the payload of a frame; the end is signed too', () => {
  const { give, sink, body, verified, signed } = open()
  expect([signed.kind, signed.length]).toEqual([2, -1])
  const [one, two] = [event('one'), event('two')]
  give(one.subarray(0, 20))
  expect(sink.text).toBe('')
  give(Buffer.concat([one.subarray(20), two.subarray(0, 5)]))
  expect(verified()).toEqual({ events: one.toString('latin1'), fault: 'event 1: no signed end' })
  give(two.subarray(5))
  body.sink.end()
  expect(verified()).toEqual({ events: Buffer.concat([one, two]).toString('latin1'), fault: undefined })
  expect(sink.ended).toBe(true)
})

test('events that the client has signed lose its signatures', () => {
  const { give, body, verified } = open()
  give(wrapped(event('one')), wrapped(event('two')), wrapped(Buffer.alloc(0)))
  body.sink.end()
  const events = Buffer.concat([event('one'), event('two')]).toString('latin1')
  expect(verified()).toEqual({ events, fault: undefined })
})

test('a stream without events, and a request without a body, are a signed end', () => {
  const empty = open()
  empty.body.sink.end()
  expect([empty.verified(), empty.sink.ended]).toEqual([{ events: '', fault: undefined }, true])
  const none = open(new Giver(BODY_NONE))
  expect([none.verified(), none.sink.ended]).toEqual([{ events: '', fault: undefined }, true])
})

test('a body in memory is signed like one that streams', () => {
  const exchange = exchangeWith({ method: 'POST' })
  const signer = new RequestSigner(SCOPE, HASHING).signEvents(exchange.request, KEYS, Date.now())
  const sink = new TextSink()
  new SignedEvents(new FixedBody(event('one')), roomFor(1000), signer, exchange).pipe(sink)
  const seed = exchange.request.get('authorization')!.slice(-64)
  const { body, fault } = verifyEvents(Buffer.from(sink.text, 'latin1'), seed, { ...SCOPE, secretAccessKey: 'secret' })
  expect([body, fault]).toEqual([event('one'), undefined])
})

test('a slow server pauses the client', () => {
  const { sink, body } = open()
  expect(sink.source).toBe(body)
  expect(body.sink.backed).toBe(false)
  sink.backed = true
  expect(body.sink.backed).toBe(true)
})

const changed = (at: number) => {
  const frame = event('one')
  frame[at]! ^= 1
  return frame
}
test.each([
  [
    'a wrong checksum',
    changed(30),
    'malformed-request: the event stream is malformed: the checksum of a frame is wrong',
  ],
  [
    'other bytes',
    Buffer.from('{"audio": "hello"}'),
    'malformed-request: the event stream is malformed: the checksum of the lengths of a frame is wrong',
  ],
  [
    'an event over the limit',
    event('x'.repeat(1000)).subarray(0, 12),
    'body-too-large: the limit is 1000 bytes (frontend.http.maxBufferSize)',
  ],
  [
    'an event without memory',
    event('x'.repeat(900)).subarray(0, 901),
    'body-memory-exhausted: no memory is left for a frame',
  ],
])('%s ends the request, and nothing more is sent', (_, bytes, refusal) => {
  const { give, sink, body, interrupts, verified } = open(new Giver(), { memory: 800 })
  give(event('first'))
  give(bytes)
  give(event('second'))
  body.sink.end()
  body.sink.abort('reset')
  expect(interrupts).toEqual([refusal])
  expect(verified().events).toBe(event('first').toString('latin1'))
  expect([sink.ended, sink.aborted, body.sink.backed]).toEqual([false, 'protocol-error', true])
})

test('a body that ends within an event does not look complete', () => {
  const { give, sink, body, interrupts } = open()
  give(event('one').subarray(0, 20))
  body.sink.end()
  expect(interrupts).toEqual(['malformed-request: the event stream ends within a frame'])
  expect([sink.text, sink.ended]).toEqual(['', false])
})

test('a client that breaks off gets no signed end', () => {
  const { give, sink, body, interrupts, verified } = open()
  give(event('one'))
  body.sink.abort('reset')
  body.sink.end()
  expect([sink.aborted, sink.ended, interrupts]).toEqual(['reset', false, []])
  expect(verified().fault).toBe('event 1: no signed end')
})
