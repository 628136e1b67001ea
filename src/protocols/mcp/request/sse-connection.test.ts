import { expect, test } from 'vitest'
import { roomFor } from '#net/testing/room-for.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { type Message, parseMessage } from '../message/json-rpc.ts'
import { type Receiver, SseConnection } from './sse-connection.ts'

function open() {
  const { claim, memory } = roomFor(0)
  const sent: unknown[] = []
  const endpoint = { path: '/messages', label: '127.0.0.1:80' }
  const send = async (message: string) => void sent.push(JSON.parse(message))
  const connection = new SseConnection({ id: '1 w1', owner: 'a', endpoint, claim, send, stop: () => {} })
  return { connection, sent, memory }
}

function messageOf(message: object): Message {
  const parsed = parseMessage(JSON.stringify({ jsonrpc: '2.0', ...message }))
  if (parsed.kind === 'unreadable') throw new Error('not a message')
  return parsed
}

const question = (id: number) => messageOf({ id, method: 'elicitation/create', params: { message: 'sure?' } })
const news = messageOf({ method: 'notifications/tools/list_changed' })
const unanswered = (id: number) => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32001, message: 'the client has no open stream' },
})

/** The stream of the client for unsolicited messages. */
function clientStream(): Receiver & { readonly received: (string | undefined)[] } {
  const received: (string | undefined)[] = []
  return {
    received,
    answers: undefined,
    token: undefined,
    receive: (message) => {
      received.push(message.kind === 'response' ? undefined : message.method)
      return undefined
    },
    end: () => {},
  }
}

test('without a stream of the client, a request of the target gets an error after 30 s (decision B85)', async () => {
  using time = new VirtualTime()
  const { connection, sent, memory } = open()
  void connection.deliver(question(1))
  void connection.deliver(news)
  await time.pass(29_999)
  expect(sent).toEqual([])
  expect(memory.heldBytes).toBeGreaterThan(0)
  await time.pass(1)
  expect(sent).toEqual([unanswered(1)])
  expect(memory.heldBytes).toBe(0)
  const late = clientStream()
  connection.attach(late)
  expect(late.received).toEqual([])
  connection.close()
})

test('a stream of the client that opens within 30 s gets the request, and the target no error', async () => {
  using time = new VirtualTime()
  const { connection, sent } = open()
  void connection.deliver(question(1))
  await time.pass(29_999)
  const stream = clientStream()
  connection.attach(stream)
  await time.pass(60_000)
  expect([stream.received, sent]).toEqual([['elicitation/create'], []])
  connection.close()
})

test('the 65th request that waits gets its error at once, and a connection that ends sends none', async () => {
  using time = new VirtualTime()
  const { connection, sent } = open()
  for (let id = 1; id <= 65; id++) void connection.deliver(question(id))
  expect(sent).toEqual([unanswered(65)])
  connection.close()
  await time.pass(60_000)
  expect(sent).toHaveLength(1)
})
