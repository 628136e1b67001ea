import { expect, test } from 'vitest'
import { toByteText } from '#base/byte-text.ts'
import { FakeUpstream } from '#net/testing/fake-upstream.ts'
import { roomFor } from '#net/testing/room-for.ts'
import type { TargetMessage } from '../message/target-reply.ts'
import { TargetEvents } from './target-events.ts'

const eventOf = (method: string, size = 0) =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', method: `notifications/${method}`, params: { text: 'x'.repeat(size) } })}\n\n`

/** An event stream that arrives when the test says so. */
function start(memoryBytes?: number) {
  const upstream = new FakeUpstream()
  const { memory, claim } = roomFor(0, memoryBytes)
  const body = Object.assign(upstream, {
    [Symbol.asyncIterator]: () => {
      throw new Error('it is piped')
    },
  })
  const events = new TargetEvents(body, claim)
  const read = async () => {
    const { done, value } = await events.next()
    return done === true ? undefined : nameOf(value)
  }
  return { upstream, memory, events, read }
}

const nameOf = ({ message }: TargetMessage) =>
  message?.kind === 'notification' ? message.method.slice('notifications/'.length) : ''

test('messages are read in order, in pieces of any size, before and after they arrive', async () => {
  const { upstream, read, memory } = start()
  const first = read()
  upstream.send(eventOf('a').slice(0, 9))
  upstream.send(`${eventOf('a').slice(9)}${eventOf('b')}: \n\n${eventOf('c')}`)
  expect([await first, await read(), await read()]).toEqual(['a', 'b', 'c'])
  const last = read()
  upstream.send(': \n\n')
  upstream.send(eventOf('d'))
  expect(await last).toBe('d')
  upstream.end()
  expect([await read(), await read(), memory.heldBytes]).toEqual([undefined, undefined, 0])
})

test('what arrived before the end, or before a failure, can still be read', async () => {
  const ended = start()
  ended.upstream.send(eventOf('a'))
  ended.upstream.end()
  expect([await ended.read(), await ended.read()]).toEqual(['a', undefined])

  const broken = start()
  broken.upstream.send(eventOf('a'))
  broken.upstream.break('reset')
  expect(await broken.read()).toBe('a')
  await expect(broken.read()).rejects.toMatchObject({ failure: 'reset' })
  expect([await broken.read(), broken.memory.heldBytes]).toEqual([undefined, 0])
})

test('untaken messages pause the target, and an unfinished one does not', async () => {
  const { upstream, read, memory } = start()
  upstream.send(eventOf('a', 300_000).slice(0, 290_000))
  expect(upstream.paused).toBe(false)
  upstream.send(`${eventOf('a', 300_000).slice(290_000)}${eventOf('b')}`)
  expect(upstream.paused).toBe(true)
  expect([await read(), await read()]).toEqual(['a', 'b'])
  expect(upstream.paused).toBe(true)
  const next = read()
  expect([upstream.paused, memory.heldBytes]).toEqual([false, 0])
  upstream.send(eventOf('c'))
  expect(await next).toBe('c')
})

test.each([
  ['is no message', 'data: {\n\n', 'the target sent an invalid message'],
  ['exceeds the memory', eventOf('b', 2000), 'no memory is left'],
])('an event that %s ends the stream after those before it', async (_, text, message) => {
  const { upstream, read, memory } = start(1500)
  upstream.send(eventOf('a'))
  upstream.send(text)
  upstream.send(eventOf('c'))
  expect(await read()).toBe('a')
  await expect(read()).rejects.toThrow(message)
  expect([await read(), upstream.cancelled, memory.heldBytes]).toEqual([undefined, true, 0])
})

test('a kept message stays in memory until the claim ends', async () => {
  const { upstream, events, read, memory } = start()
  upstream.send(eventOf('a'))
  const { value } = (await events.next()) as IteratorYieldResult<TargetMessage>
  value.keep()
  upstream.send(eventOf('b'))
  await read()
  void read()
  expect(memory.heldBytes).toBe(eventOf('a').length - 'data: \n\n'.length)
})

test('it can be given up while a message is awaited, and while some wait', async () => {
  const waiting = start()
  const next = waiting.read()
  await waiting.events.return()
  expect([await next, await waiting.read(), waiting.upstream.cancelled]).toEqual([undefined, undefined, true])

  const held = start()
  held.upstream.send(eventOf('a'))
  await held.events.return()
  expect([await held.read(), held.memory.heldBytes]).toEqual([undefined, 0])
})

test('a body that can only be read is read', async () => {
  async function* pieces() {
    yield new TextEncoder().encode(eventOf('a'))
    throw new Error('broken')
  }
  const events = new TargetEvents(pieces(), roomFor(0).claim)
  expect(nameOf((await events.next()).value)).toBe('a')
  await expect(events.next()).rejects.toThrow('broken')
})

test.each<[what: string, id: string, read: string | RegExp]>([
  ['of ASCII', 'a 1', 'a 1'],
  ['of other characters, as UTF-8', '€1', 'â\u0082¬1'],
  ['that is empty', '', ''],
  ['of the greatest length', 'x'.repeat(4096), 'x'.repeat(4096)],
  ['that is too long', 'x'.repeat(4097), /^the target sent an event id that is too long: the limit is 4096 bytes/],
  ['that is too long as UTF-8', '€'.repeat(1366), /^the target sent an event id that is too long/],
  ['with a control character', 'a\u0001', /^the target sent an event id with control characters$/],
])('an event id %s', async (_, id, read) => {
  const { upstream, events } = start()
  upstream.send(toByteText(`id: ${id}\n${eventOf('a')}`))
  const next = events.next()
  if (typeof read === 'string') expect((await next).value?.eventId).toBe(read)
  else await expect(next).rejects.toThrow(read)
  await events.return()
})
