import { expect, test } from 'vitest'
import { LocalChannels } from '#state/channels.ts'
import { parseMessage, type RequestMessage } from '../message/json-rpc.ts'
import { channelOf, HeldCall, type Question } from './held-call.ts'
import { HeldCalls } from './held-calls.ts'

const ASKED = parseMessage('{"jsonrpc":"2.0","id":3,"method":"elicitation/create"}') as RequestMessage

/** A call that waits, and two workers that could continue it. */
async function start() {
  const channels = new LocalChannels('w1')
  const ends: unknown[] = []
  async function* silent() {}
  const call = new HeldCall(new HeldCalls(), channels, {
    id: 7,
    progressToken: undefined,
    caller: 'c',
    messages: silent(),
    keep: () => async (isCancelled) => void ends.push(isCancelled),
    stop: () => {},
    draining: new AbortController().signal,
  })
  const { key } = (await call.hold(ASKED))!
  const told: string[] = []
  for (const to of ['one', 'other']) channels.open(to, (text) => void told.push(`${to} ${JSON.parse(text).tell}`))
  const ask = (to: string, question: Omit<Question, 'to' | 'from'> & object) =>
    channels.send(channelOf(key), JSON.stringify({ ...question, to, from: 'w1' }), 'w1')
  return { ask, told, ends }
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
