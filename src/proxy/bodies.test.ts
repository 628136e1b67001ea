import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Decision } from '#engine/request/decide.ts'
import { BodyMemory } from '#net/body/body-memory.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import type { BodySink, BodySource, ClientStream, ServerStream } from '#net/stream.ts'
import { Giver } from '#net/testing/giver.ts'
import { TextSink } from '#net/testing/recording-handler.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { Bodies, type BodyOwner } from './bodies.ts'

/** A request with that body, which waits for its response. */
function setup(body: BodySource, decision: Partial<Decision> = {}) {
  let broken = 0
  const owner = {
    exchange: exchangeWith({ status: 200 }),
    decision: decision as Decision,
    stream: { body } as ServerStream,
    upstream: undefined,
    context: { bodyMemory: new BodyMemory(1000), recordBodyBytes: 0 },
    isWaiting: true as boolean,
    breakAttempt: () => {
      broken++
    },
  } satisfies BodyOwner
  return { owner, bodies: new Bodies(owner), timesBroken: () => broken }
}

const textOf = (body: Uint8Array | null | undefined) => (body ? Buffer.from(body).toString() : body)

test.each([
  ['', true, ''],
  ['hello', true, 'hello'],
  ['hello, world', true, null],
  ['hello', 'prefix', 'hello'],
] as const)('a request body %j, read as far as %j', async (text, use, read) => {
  const { owner, bodies } = setup(new FixedBody(text))
  expect(await bodies.readRequestBody(owner.exchange, 10, use)).toBeUndefined()
  expect(textOf(owner.exchange.requestBody)).toBe(read)
})

test('the beginning of a request body that is too large', async () => {
  const { owner, bodies } = setup(new FixedBody('hello, world'))
  await bodies.readRequestBody(owner.exchange, 10, 'prefix')
  expect([owner.exchange.requestBody, textOf(owner.exchange.requestBodyPrefix)]).toEqual([null, 'hello, wor'])
})

test('a request body that ends when nobody waits is not read', () => {
  const giver = new Giver()
  const { owner, bodies } = setup(giver)
  void bodies.readRequestBody(owner.exchange, 10, true)
  giver.give('hello')
  owner.isWaiting = false
  giver.sink.end()
  expect(owner.exchange.requestBody).toBeUndefined()
})

test('a request body repeats while all of it is kept', () => {
  const giver = new Giver()
  const { bodies } = setup(giver)
  expect(bodies.requestRepeats).toBe(true)
  bodies.keepRequest()
  bodies.requestToSend().pipe(new TextSink())
  giver.give('x'.repeat(500))
  expect(bodies.requestRepeats).toBe(true)
  giver.give('x'.repeat(70_000))
  expect(bodies.requestRepeats).toBe(false)
})

test('a decoded request body counts like one that was received decoded', async () => {
  for (const [length, code] of [
    [1000, undefined],
    [1001, 'body-memory-exhausted'],
  ] as const) {
    const { owner, bodies } = setup(new FixedBody(''))
    owner.exchange.request.append('content-encoding', 'gzip')
    owner.exchange.requestBody = gzipSync('x'.repeat(length))
    const refusal = await bodies.decodeRequestBody(owner.exchange, 5000)
    expect([refusal?.code, owner.context.bodyMemory.heldBytes]).toEqual([code, code === undefined ? length : 0])
  }
})

test.each([
  ['that records have', 10, undefined, false],
  ['that nothing records', 0, undefined, true],
  ['that a policy made', 10, 'made', true],
] as const)('a response %s', (_, recordBodyBytes, made, passesAsItIs) => {
  const { owner } = setup(new FixedBody(''))
  const response = Object.assign(new TextSink(), { takesFramed: true })
  const context = { ...owner.context, recordBodyBytes }
  const stream = { ...owner.stream, response }
  const giver = new Giver()
  owner.exchange.newResponseBody = made === undefined ? undefined : Buffer.from(made)
  new Bodies({ ...owner, context, stream }).sendResponse(giver)
  giver.give('hello')
  giver.sink.end()
  expect(giver.sink.takesFramed).toBe(passesAsItIs)
  expect([response.text, owner.context.bodyMemory.heldBytes > 0]).toEqual(['hello', !passesAsItIs])
})

test('a response body that is read whole, and one that breaks', async () => {
  for (const [end, body, refusal, broken] of [
    [(giver: Giver) => giver.sink.end(), 'hello', undefined, 0],
    [(giver: Giver) => giver.sink.abort('reset'), undefined, 'the response ended early: reset', 1],
  ] as const) {
    const { owner, bodies, timesBroken } = setup(new FixedBody(''))
    const giver = new Giver()
    bodies.openResponse({ body: giver as BodySource } as ClientStream)
    const read = bodies.readResponseBody(owner.exchange, 10, true)
    giver.give('hello')
    end(giver)
    expect((await read)?.detail).toBe(refusal)
    expect([textOf(owner.exchange.responseBody), timesBroken()]).toEqual([body, broken])
  }
})

test('a response that the gateway cancels is not reported: who cancelled it responds', async () => {
  const { owner, bodies, timesBroken } = setup(new FixedBody(''))
  const giver = new Giver()
  bodies.openResponse({ body: giver as BodySource } as ClientStream)
  let reported = false
  void bodies.readResponseBody(owner.exchange, 10, true).then(() => {
    reported = true
  })
  giver.give('hello')
  giver.sink.abort('cancelled')
  await new Promise(setImmediate)
  expect([reported, timesBroken()]).toEqual([false, 0])
})

test('a response waits 5 seconds for its first content, and longer while somebody judges it', async () => {
  using time = new VirtualTime()
  const filter = { changesLength: true, isJudging: true, whenBegun: () => {}, into: (sink: BodySink) => sink }
  const { owner, bodies } = setup(new FixedBody(''), { selectFilter: () => filter })
  bodies.openResponse({ body: new Giver() as BodySource } as ClientStream)
  const told: unknown[] = []
  expect(bodies.holdResponse((unread) => told.push(unread))).toBe(true)
  await time.pass(7900)
  expect(told).toEqual([])
  filter.isJudging = false
  await time.pass(100)
  expect(told).toEqual([undefined])
  bodies.openResponse({ body: new Giver() as BodySource } as ClientStream)
  bodies.holdResponse((unread) => told.push(unread))
  await time.pass(4999)
  expect(told).toHaveLength(1)
  await time.pass(1)
  expect(told).toEqual([undefined, undefined])
  expect(owner.isWaiting).toBe(true)
})
