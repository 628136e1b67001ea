import { once } from 'node:events'
import net from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { BOTH_TRANSPORTS } from '../testing/wire-transports.ts'
import type { PlainTransports } from './plain-transports.ts'

async function connected(transports: PlainTransports) {
  const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[net.Socket]>
  const client = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1')
  const [socket] = await accepted
  const events: string[] = []
  const transport = transports.accept(socket, server, {
    bytes: () => {},
    ended: () => events.push('ended'),
    drained: () => events.push('drained'),
    closed: () => events.push('closed'),
  })
  return { server, client, socket, transport, events }
}

async function readAll(client: net.Socket): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of client) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

test.each(BOTH_TRANSPORTS.flatMap((transports) => [10_000, 30_000].map((size) => ({ ...transports, size }))))(
  'bytes that the kernel does not accept are queued in order: $kind, pieces of $size',
  async ({ size, ...transports }) => {
    const { server, client, transport } = await connected(transports)
    const expected: Buffer[] = []
    let pieces = 0
    while (!transport.backed) {
      const piece = Buffer.alloc(size, ++pieces)
      transport.writeBytes(piece, 0, piece.length)
      expected.push(Buffer.from(piece))
      // The memory may change as soon as the call returns.
      piece.fill(0)
      transport.writeText(`-${pieces}\u00e9-`)
      expected.push(Buffer.from(`-${pieces}\u00e9-`, 'latin1'))
    }
    expect(transport.unsentBytes).toBeGreaterThan(0)
    transport.writeText('last')
    transport.end()
    const received = await readAll(client)
    expect(received.equals(Buffer.concat([...expected, Buffer.from('last')]))).toBe(true)
    expect(transport.unsentBytes).toBe(0)
    transport.destroy()
    client.destroy()
    server.close()
  },
)

test.each(BOTH_TRANSPORTS)('the owner is notified when queued bytes have been sent: $kind', async (transports) => {
  const { server, client, transport, events } = await connected(transports)
  const piece = Buffer.alloc(60_000)
  while (!transport.backed) transport.writeBytes(piece, 0, piece.length)
  await turn()
  expect(events).toEqual([])
  client.resume()
  await vi.waitFor(() => expect(events).toEqual(['drained']))
  expect([transport.backed, transport.unsentBytes]).toEqual([false, 0])
  transport.destroy()
  client.destroy()
  server.close()
})

test.each(BOTH_TRANSPORTS)(
  'a connection that the peer reset closes once, whatever is written: $kind',
  async (transports) => {
    const { server, client, transport, events } = await connected(transports)
    client.resetAndDestroy()
    for (let i = 0; i < 1000 && events.length === 0; i++) {
      transport.writeText('x')
      await turn()
    }
    transport.writeText('x')
    transport.writeBytes(Buffer.alloc(20_000), 0, 20_000)
    await turn()
    expect(events).toEqual(['closed'])
    server.close()
  },
)

test.each(BOTH_TRANSPORTS)('destroying it discards queued bytes: $kind', async (transports) => {
  const { server, client, transport, events } = await connected(transports)
  while (!transport.backed) transport.writeText('x'.repeat(60_000))
  transport.destroy()
  client.destroy()
  await once(client, 'close')
  await turn()
  expect(events).toEqual(['closed'])
  server.close()
})
