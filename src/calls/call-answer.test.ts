import { beforeEach, expect, test } from 'vitest'
import type { CallFailure } from '#exchange/call.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { Head } from '#net/http/head.ts'
import type { BodySink } from '#net/stream.ts'
import { FakeUpstream } from '#net/testing/fake-upstream.ts'
import { CallAnswer } from './call-answer.ts'

const PAUSE_AT = 262_144

let upstream: FakeUpstream
let memory: BodyMemory
let ended: (CallFailure | undefined)[]
let body: AsyncIterator<Uint8Array>
let answer: CallAnswer

beforeEach(() => {
  upstream = new FakeUpstream()
  upstream.head = Head.response(203)
  memory = new BodyMemory(Number.POSITIVE_INFINITY)
  ended = []
  answer = new CallAnswer(upstream, '127.0.0.1:80', new BodyClaim(memory), {
    answerEnded: (_, failure) => ended.push(failure),
  })
  body = answer.body[Symbol.asyncIterator]()
})

async function next(): Promise<string | undefined> {
  const { done, value } = await body.next()
  return done === true ? undefined : Buffer.from(value).toString()
}

test('bytes that arrived since the last read are one piece, and a read without bytes waits', async () => {
  upstream.send('one')
  upstream.send('two')
  expect(await next()).toBe('onetwo')
  const waiting = next()
  upstream.send('three')
  expect(await waiting).toBe('three')
  const last = next()
  upstream.end()
  expect([await last, await next()]).toEqual([undefined, undefined])
  expect([ended, upstream.cancelled]).toEqual([[undefined], false])
})

test('a single byte is a piece, also when the response has ended', async () => {
  upstream.send('x')
  upstream.end()
  expect([await next(), await next()]).toEqual(['x', undefined])
})

test.each([
  [PAUSE_AT - 1, false],
  [PAUSE_AT, true],
])('%i unread bytes: the upstream connection pauses: %s, and a read resumes it', async (bytes, pauses) => {
  upstream.send('x'.repeat(bytes))
  expect([answer.backed, upstream.paused, memory.heldBytes]).toEqual([pauses, pauses, bytes])
  expect(await next()).toHaveLength(bytes)
  expect([answer.backed, upstream.paused, memory.heldBytes]).toEqual([false, false, 0])
})

test('the memory of unread bytes doubles, up to twice the bound', () => {
  upstream.send('x'.repeat(300_000))
  upstream.send('x')
  expect(memory.heldBytes).toBe(524_288)
})

test('an aborted response: the reader gets the received bytes, and then the failure', async () => {
  upstream.send('part')
  upstream.break('reset')
  expect(ended).toEqual(['reset'])
  expect(await next()).toBe('part')
  await expect(next()).rejects.toMatchObject({ failure: 'reset' })
})

test('a response that breaks off while its reader waits', async () => {
  const waiting = next()
  upstream.break('protocol-error')
  await expect(waiting).rejects.toMatchObject({ failure: 'protocol-error' })
})

test('a reader that stops cancels the request and releases the memory', async () => {
  upstream.send('part')
  expect(await body.return?.()).toEqual({ done: true, value: undefined })
  expect([ended, upstream.cancelled, memory.heldBytes]).toEqual([['cancelled'], true, 0])
  answer.abort('timeout')
  expect(ended).toEqual(['cancelled'])
})

test('a reader that stops after the end of the response cancels nothing', async () => {
  upstream.send('whole')
  upstream.end()
  await body.return?.()
  expect([ended, upstream.cancelled, memory.heldBytes]).toEqual([[undefined], false, 0])
})

/** What a sink has got. */
function recordingSink(room = Number.POSITIVE_INFINITY) {
  const got: string[] = []
  const sink: BodySink = {
    takesFramed: false,
    source: null,
    get backed() {
      return got.join('').length >= room
    },
    bytes: (buffer, start, end) => got.push(buffer.toString('latin1', start, end)),
    end: () => got.push('<end>'),
    abort: (why) => got.push(`<${why}>`),
  }
  return { got, sink }
}

test('a sink gets what has arrived, and then the rest as it arrives', () => {
  const { got, sink } = recordingSink()
  upstream.send('a')
  upstream.send('b')
  answer.pipe(sink)
  upstream.send('c')
  upstream.end()
  expect([got, ended, memory.heldBytes]).toEqual([['ab', 'c', '<end>'], [undefined], 0])
})

test.each([
  ['ended', () => upstream.end(), '<end>'],
  ['broke off', () => upstream.break('reset'), '<reset>'],
  ['was given up', () => answer.cancel(), '<cancelled>'],
])('a sink that is attached after the response %s learns of it', (_, finish, last) => {
  const { got, sink } = recordingSink()
  finish()
  answer.pipe(sink)
  expect(got).toEqual([last])
})

test('a full sink pauses the upstream connection, and resumes it', () => {
  const { sink } = recordingSink(2)
  answer.pipe(sink)
  upstream.send('a')
  expect(upstream.paused).toBe(false)
  upstream.send('b')
  expect(upstream.paused).toBe(true)
  sink.source!.resume()
  expect(upstream.paused).toBe(false)
})

test('bytes that filled the memory of reads no longer pause the connection when a sink takes them', () => {
  upstream.send('x'.repeat(PAUSE_AT))
  expect(upstream.paused).toBe(true)
  answer.pipe(recordingSink().sink)
  expect(upstream.paused).toBe(false)
})

test('a body is taken at once only if all of it has arrived', async () => {
  upstream.send('one')
  expect(answer.takeArrived()).toBeUndefined()
  upstream.send('two')
  upstream.end()
  expect(Buffer.from(answer.takeArrived()!).toString()).toBe('onetwo')
  expect(memory.heldBytes).toBe(0)
  expect(answer.takeArrived()).toHaveLength(0)
  expect(await next()).toBeUndefined()
})

test('a body that broke off is not taken for a whole one', () => {
  upstream.send('one')
  answer.abort('reset')
  expect(answer.takeArrived()).toBeUndefined()
})

test('an empty body is taken at once', () => {
  upstream.end()
  expect(answer.takeArrived()).toHaveLength(0)
})
