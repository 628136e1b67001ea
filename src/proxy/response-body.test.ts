import { expect, test } from 'vitest'
import type { Decision } from '#engine/request/decide.ts'
import type { Refusal } from '#exchange/outcome.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import { Head } from '#net/http/head.ts'
import { BODY_CHUNKED, type BodySink, type BodySource, type ClientStream, type SendableBody } from '#net/stream.ts'
import { Giver } from '#net/testing/giver.ts'
import { TextSink } from '#net/testing/recording-handler.ts'
import { workerWheel } from '#net/timer-wheel.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { keepAlive, ResponseBody } from './response-body.ts'
import { ownerOf, textOf } from './testing.ts'

function responseOf(decision: Partial<Decision> = {}) {
  const owner = ownerOf(new FixedBody(''), decision)
  return { owner, body: new ResponseBody(owner) }
}

test.each([
  ['that records have', 10, undefined, false],
  ['that nothing records', 0, undefined, true],
  ['that a policy made', 10, 'made', true],
] as const)('a response %s', (_, recordBodyBytes, made, passesAsItIs) => {
  const { owner } = responseOf()
  const response = Object.assign(new TextSink(), { takesFramed: true })
  const context = { ...owner.context, recordBodyBytes }
  const stream = { ...owner.stream, response }
  const giver = new Giver()
  owner.exchange.newResponseBody = made === undefined ? undefined : Buffer.from(made)
  new ResponseBody({ ...owner, context, stream }).send(giver)
  giver.give('hello')
  giver.sink.end()
  expect(giver.sink.takesFramed).toBe(passesAsItIs)
  expect([response.text, owner.context.bodyMemory.heldBytes > 0]).toEqual(['hello', !passesAsItIs])
})

test('a response body that is read whole, and one that breaks', async () => {
  for (const [end, text, refusal, broken] of [
    [(giver: Giver) => giver.sink.end(), 'hello', undefined, 0],
    [(giver: Giver) => giver.sink.abort('reset'), undefined, 'the response ended early: reset', 1],
  ] as const) {
    const { owner, body } = responseOf()
    const giver = new Giver()
    body.open({ body: giver as BodySource } as ClientStream)
    const read = new Promise<Refusal | undefined>((resolve) => body.collect(10, true, resolve))
    giver.give('hello')
    end(giver)
    expect((await read)?.detail).toBe(refusal)
    expect([textOf(owner.exchange.responseBody.whole), owner.timesBroken]).toEqual([text, broken])
  }
})

test('a response that the gateway cancels is not reported: who cancelled it responds', async () => {
  const { owner, body } = responseOf()
  const giver = new Giver()
  body.open({ body: giver as BodySource } as ClientStream)
  let reported = false
  body.collect(10, true, () => {
    reported = true
  })
  giver.give('hello')
  giver.sink.abort('cancelled')
  await new Promise(setImmediate)
  expect([reported, owner.timesBroken]).toEqual([false, 0])
})

test('a stream whose request is over gets no comments, which would go to the next request', async () => {
  using time = new VirtualTime()
  const filter = { changesLength: true, into: (sink: BodySink) => sink }
  const { owner } = responseOf({ selectFilter: () => filter })
  owner.exchange.response!.set('content-type', 'text/event-stream')
  const response = new TextSink()
  const body = new ResponseBody({ ...owner, stream: { ...owner.stream, response } })
  body.open({ body: new Giver() as BodySource } as ClientStream)
  body.send(body.outgoing())
  const silence = async () => {
    await time.pass(15_200)
    workerWheel.advance()
  }
  await silence()
  expect(response.text).toBe(': \n\n')
  body.close()
  await silence()
  expect(response.text).toBe(': \n\n')
})

test('a response waits 5 seconds for its first content, and longer while somebody judges it', async () => {
  using time = new VirtualTime()
  const filter = { changesLength: true, isJudging: true, whenBegun: () => {}, into: (sink: BodySink) => sink }
  const { owner, body } = responseOf({ selectFilter: () => filter })
  body.open({ body: new Giver() as BodySource } as ClientStream)
  const told: unknown[] = []
  expect(body.holdUntilContent(undefined, (unread) => told.push(unread))).toBe(true)
  await time.pass(7900)
  expect(told).toEqual([])
  filter.isJudging = false
  await time.pass(100)
  expect(told).toEqual([undefined])
  body.open({ body: new Giver() as BodySource } as ClientStream)
  body.holdUntilContent(undefined, (unread) => told.push(unread))
  await time.pass(4999)
  expect(told).toHaveLength(1)
  await time.pass(1)
  expect(told).toEqual([undefined, undefined])
  expect(owner.isWaiting).toBe(true)
})

test('records have what the client got, not the beginning that policies read before a server replaced the body', () => {
  const { owner } = responseOf()
  const sink = new TextSink()
  const stream = { ...owner.stream, response: sink }
  const context = { ...owner.context, recordBodyBytes: 10 }
  const body = new ResponseBody({ ...owner, stream, context })
  body.open({ body: new FixedBody('of the backend') as SendableBody } as ClientStream)
  body.collect(10, 'prefix', () => {})
  expect(owner.exchange.responseBody.kind).toBe('large')
  const replacement = new Giver()
  body.replace(replacement)
  body.send(body.outgoing())
  replacement.give('new')
  replacement.sink.end()
  body.recordForLog()
  expect([sink.text, textOf(owner.exchange.responseBody.start)]).toEqual(['new', 'new'])
})

const SSE = 'text/event-stream; charset=utf-8'

test.each([
  ['events to which the protocol may add bytes', true, SSE, undefined, -1, true],
  ['events that must not change, or that nobody reads', false, SSE, undefined, -1, false],
  ['frames', true, 'application/vnd.amazon.eventstream', undefined, -1, false],
  ['another type, which a policy has set', true, 'application/json', undefined, -1, false],
  ['compressed events', true, SSE, 'gzip', -1, false],
  ['events of a known length', true, SSE, undefined, 5, false],
])('%s get comments: %s', (_, changesLength, type, coding, length, isKept) => {
  const head = Head.response(200)
  head.append('content-type', type)
  if (coding !== undefined) head.append('content-encoding', coding)
  const filter = { changesLength, into: () => new TextSink() }
  const kept = keepAlive(filter, head, new Giver(BODY_CHUNKED, length), new TextSink())
  kept?.stop()
  expect(kept !== undefined).toBe(isKept)
})
