import { expect, test } from 'vitest'
import { roomFor } from '#net/testing/room-for.ts'
import { LocalChannels } from '#state/channels.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { type Message, parseMessage, type RequestMessage } from '../message/json-rpc.ts'
import { HeldCalls } from '../request/held-calls.ts'
import type { McpDeps } from '../request/mcp-request.ts'
import { channelOf, HeldCall, type Question } from './held-call.ts'
import { takeHeldCall } from './take-held-call.ts'

const ASKED = parseMessage('{"jsonrpc":"2.0","id":3,"method":"elicitation/create"}') as RequestMessage

/** A call that waits, and two workers that could continue it. */
async function start() {
  const channels = new LocalChannels('w1')
  const ends: unknown[] = []
  const { promise: said, resolve: say } = Promise.withResolvers<string>()
  async function* messages() {
    yield { message: parseMessage(await said) as Message, eventId: undefined, retryMs: undefined, keep: () => {} }
  }
  const call = new HeldCall(new HeldCalls(), channels, {
    id: 7,
    progressToken: undefined,
    caller: 'c',
    messages: messages(),
    keep: () => async (isCancelled) => void ends.push(isCancelled),
    stop: () => {},
    draining: new AbortController().signal,
  })
  const at = (await call.hold(ASKED))!
  const { key } = at
  const told: string[] = []
  for (const to of ['one', 'other']) channels.open(to, (text) => void told.push(`${to} ${JSON.parse(text).tell}`))
  const ask = (to: string, question: Omit<Question, 'to' | 'from'> & object) =>
    channels.send(channelOf(key), JSON.stringify({ ...question, to, from: 'w1' }), 'w1')
  const { claim, memory } = roomFor(0)
  const take = async () => {
    const { signal } = new AbortController()
    return (await takeHeldCall({ channels, signal, claim } as Partial<McpDeps> as McpDeps, at))!
  }
  return { ask, told, ends, call, take, say, claim, memory }
}

test('only one request continues a call, and only in its round', async () => {
  const { ask, told } = await start()
  await ask('other', { ask: 'take', round: 2 } as never)
  await ask('one', { ask: 'take', round: 1 } as never)
  await ask('other', { ask: 'take', round: 1 } as never)
  expect(told).toEqual(['one taken'])
})

test('nobody else reads or ends a call that is continued', async () => {
  const { ask, told, ends } = await start()
  await ask('one', { ask: 'take', round: 1 } as never)
  await ask('other', { ask: 'end', isCancelled: false } as never)
  await ask('other', { ask: 'next' } as never)
  await ask('other', { ask: 'hold', round: 2, asked: ASKED.text } as never)
  await ask('other', { ask: 'take', round: 2 } as never)
  expect([told, ends]).toEqual([['one taken'], []])
  await ask('one', { ask: 'end', isCancelled: true } as never)
  expect(ends).toEqual([true])
})

const NOTE = '{"jsonrpc":"2.0","method":"notifications/message"}'

test('a call is continued for as long as its target is silent', async () => {
  using time = new VirtualTime()
  const { take, say, ends } = await start()
  const reader = await take()
  const next = reader.next()
  await time.pass(5 * 60_000)
  say(NOTE)
  expect((await next)?.message?.text).toBe(NOTE)
  expect(ends).toEqual([])
  reader.end(false)
})

test('a call whose worker has ended is over within 10 s', async () => {
  using time = new VirtualTime()
  const { take, call } = await start()
  const reader = await take()
  const next = reader.next()
  call.end(true)
  const failure = expect(next).rejects.toThrow('the worker that had the call has ended')
  await time.pass(10_000)
  await failure
  reader.end(false)
})

test('a client that leaves while its call is held again gives its memory back once', async () => {
  const { take, say, claim, memory } = await start()
  const reader = await take()
  say(NOTE)
  await reader.next()
  claim.takeAnyway(1000)
  expect(memory.heldBytes).toBe(1000 + NOTE.length)
  const holding = reader.hold(ASKED)
  reader.end(true)
  await holding
  expect(memory.heldBytes).toBe(1000)
})
