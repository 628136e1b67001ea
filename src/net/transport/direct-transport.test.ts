import { once } from 'node:events'
import net from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openPlainTransport, WORKS_DIRECTLY } from './direct-transport.ts'
import { SocketTransport } from './socket-transport.ts'

test('the pinned Node takes direct reads and writes: try a new release here, then name it', () => {
  expect(WORKS_DIRECTLY).toBe(true)
})

async function connected() {
  const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[net.Socket]>
  const client = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1')
  const [socket] = await accepted
  const events: string[] = []
  const transport = openPlainTransport(socket, {
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

test('it is a transport of its own', async () => {
  const { server, client, transport } = await connected()
  expect(transport).toBeInstanceOf(SocketTransport)
  expect(transport.constructor).not.toBe(SocketTransport)
  transport.destroy()
  client.destroy()
  server.close()
})

test.each([10_000, 30_000])(
  'what the kernel does not take waits, in order, and its end is told: pieces of %i',
  async (size) => {
    const { server, client, transport, events } = await connected()
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
    expect(events).toEqual(['drained'])
    expect([transport.backed, transport.unsentBytes]).toEqual([false, 0])
    transport.destroy()
    client.destroy()
    server.close()
  },
)

test('a connection that the peer has reset closes once, whatever is written to it', async () => {
  const { server, client, transport, events } = await connected()
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
})

test('destroying it forgets what waits', async () => {
  const { server, client, transport, events } = await connected()
  while (!transport.backed) transport.writeText('x'.repeat(60_000))
  transport.destroy()
  client.destroy()
  await once(client, 'close')
  await turn()
  expect(events).toEqual(['closed'])
  server.close()
})
