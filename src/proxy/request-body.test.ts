import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { wholeBody } from '#exchange/known-body.ts'
import { FixedBody } from '#net/body/fixed-body.ts'
import type { BodySource } from '#net/stream.ts'
import { Giver } from '#net/testing/giver.ts'
import { TextSink } from '#net/testing/recording-handler.ts'
import { RequestBody } from './request-body.ts'
import { ownerOf, textOf } from './testing.ts'

function requestWith(source: BodySource) {
  const owner = ownerOf(source)
  return { owner, body: new RequestBody(owner) }
}

test.each([
  ['', true, ''],
  ['hello', true, 'hello'],
  ['hello, world', true, undefined],
  ['hello', 'prefix', 'hello'],
] as const)('a request body %j, read as far as %j', async (text, use, read) => {
  const { owner, body } = requestWith(new FixedBody(text))
  expect(await body.read(10, use)).toBeUndefined()
  expect(textOf(owner.exchange.requestBody.whole)).toBe(read)
})

test('the beginning of a request body that is too large', async () => {
  const { owner, body } = requestWith(new FixedBody('hello, world'))
  await body.read(10, 'prefix')
  const { kind, start } = owner.exchange.requestBody
  expect([kind, textOf(start)]).toEqual(['large', 'hello, wor'])
})

test('a request body that ends when nobody waits is not read', () => {
  const giver = new Giver()
  const { owner, body } = requestWith(giver)
  void body.read(10, true)
  giver.give('hello')
  owner.isWaiting = false
  giver.sink.end()
  expect(owner.exchange.requestBody.kind).toBe('unread')
})

test('a request body repeats while all of it is kept', () => {
  const giver = new Giver()
  const { body } = requestWith(giver)
  expect(body.repeats).toBe(true)
  body.keepForRetry()
  body.outgoing().pipe(new TextSink())
  giver.give('x'.repeat(500))
  expect(body.repeats).toBe(true)
  giver.give('x'.repeat(70_000))
  expect(body.repeats).toBe(false)
})

test('a decoded request body counts like one that was received decoded', async () => {
  for (const [length, code] of [
    [1000, undefined],
    [1001, 'body-memory-exhausted'],
  ] as const) {
    const { owner, body } = requestWith(new FixedBody(''))
    owner.exchange.request.append('content-encoding', 'gzip')
    owner.exchange.requestBody = wholeBody(gzipSync('x'.repeat(length)))
    const refusal = await body.decode(5000)
    expect([refusal?.code, owner.context.bodyMemory.heldBytes]).toEqual([code, code === undefined ? length : 0])
  }
})
