import { expect, test } from 'vitest'
import { roomFor } from '#net/testing/room-for.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { SseConnection } from '../request/sse-connection.ts'
import { makeRoom } from './make-room.ts'

/** Connections by age, the oldest one first. @param all `<owner>`, in use if followed by `!` */
async function connect(time: VirtualTime, all: readonly string[]): Promise<SseConnection[]> {
  const connections: SseConnection[] = []
  for (const each of all) {
    const { claim } = roomFor(0)
    const owner = each[0]!
    const parts = { id: each, owner, endpoint: { path: '/', label: '' }, claim, send: async () => {}, stop: () => {} }
    const connection = new SseConnection(parts)
    if (each.endsWith('!')) {
      const receiver = { answers: undefined, token: undefined, receive: () => undefined, end: () => {} }
      connection.attach(receiver)
    }
    connections.push(connection)
    await time.pass(1000)
  }
  return connections
}

test.each<[why: string, connections: string[], owner: string, closed: number | undefined]>([
  ['the longest unused one of the caller with the most', ['a', 'b', 'b', 'c'], 'd', 1],
  ['not one in use', ['a', 'b!', 'b', 'c'], 'd', 2],
  ['the own one of a caller that would have the most', ['a', 'b', 'c', 'c'], 'c', 2],
  ['that of any caller if none has more', ['a', 'b', 'c'], 'd', 0],
  ['none if the caller with the most uses all', ['a', 'b!', 'b!', 'c'], 'd', undefined],
  ['one of two callers with the most that has an unused one', ['b!', 'b!', 'c!', 'c'], 'd', 3],
])('closed is %s', async (_, all, owner, closed) => {
  using time = new VirtualTime()
  const connections = await connect(time, all)
  expect(makeRoom(connections, owner)).toBe(closed !== undefined)
  expect(connections.flatMap(({ isClosed }, index) => (isClosed ? [index] : []))).toEqual(
    closed === undefined ? [] : [closed],
  )
  for (const connection of connections) connection.close()
})

test('a connection that is no longer used counts from then on', async () => {
  using time = new VirtualTime()
  const [first, second] = await connect(time, ['a', 'a'])
  const receiver = { answers: undefined, token: undefined, receive: () => undefined, end: () => {} }
  first!.attach(receiver)
  await time.pass(1000)
  first!.detach(receiver)
  expect(makeRoom([first!, second!], 'b')).toBe(true)
  expect([first!.isClosed, second!.isClosed]).toEqual([false, true])
  first!.close()
})
