import { expect, test } from 'vitest'
import { LocalChannels } from '#state/channels.ts'
import type { MessageId } from '../message/json-rpc.ts'
import { CallsInFlight, cancelInSession, endCallsOf } from './calls-in-flight.ts'

function worker() {
  const channels = new LocalChannels('w1')
  const calls = new CallsInFlight()
  const told: string[] = []
  const begin = (session: string, id: MessageId, name = JSON.stringify(id)) =>
    calls.begin(channels, session, {
      id,
      cancel: async (cancellation) => void told.push(`${name} ${cancellation.length}`),
      end: async () => void told.push(`${name} ended`),
    })
  return { channels, told, begin }
}

const cancellation = (params: unknown) => JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params })

test.each<[params: unknown, cancelled: readonly string[]]>([
  [{ requestId: 1 }, ['1']],
  [{ requestId: '1' }, ['"1"']],
  [{ requestId: 'twice' }, ['first', 'second']],
  [{ requestId: 2 }, []],
  [{ requestId: null }, []],
  [{}, []],
  [undefined, []],
])('the cancellation %j cancels the requests with its id', async (params, cancelled) => {
  const { channels, told, begin } = worker()
  begin('s', 1)
  begin('s', '1')
  begin('s', 'twice', 'first')
  begin('s', 'twice', 'second')
  begin('other', 1, 'of another session')
  begin('other', 'twice', 'of another session')
  const text = cancellation(params)
  await cancelInSession(channels, 's', text)
  expect(told).toEqual(cancelled.map((name) => `${name} ${text.length}`))
})

test('the end of a session ends its requests', async () => {
  const { channels, told, begin } = worker()
  begin('s', 1)
  begin('s', 2)()
  begin('s', 3)
  begin('other', 4)
  await endCallsOf(channels, 's')
  expect(told).toEqual(['1 ended', '3 ended'])
})

test('a channel is open while its session has requests, also if one ends twice', () => {
  const { channels, begin } = worker()
  const first = begin('s', 1)
  const second = begin('s', 2)
  expect(channels.openChannels).toEqual(['mcp-session-calls s'])
  first()
  expect(channels.openChannels).toHaveLength(1)
  second()
  expect(channels.openChannels).toEqual([])
  const third = begin('s', 3)
  second()
  expect(channels.openChannels).toHaveLength(1)
  third()
  expect(channels.openChannels).toEqual([])
})
