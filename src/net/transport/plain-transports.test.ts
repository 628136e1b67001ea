import { once } from 'node:events'
import net from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { RawClient } from '../testing/raw-peers.ts'
import { BOTH_TRANSPORTS, DIRECT_TRANSPORTS } from '../testing/wire-transports.ts'
import type { PlainTransports } from './plain-transports.ts'
import { ReadRelay } from './read-relay.ts'

test.each(BOTH_TRANSPORTS)('reset ends a connection, also after an orderly end: $kind', async (transports) => {
  for (const endsBefore of [false, true]) {
    let closed: () => void = () => {}
    const gone = new Promise<void>((resolve) => {
      closed = resolve
    })
    const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
      const bytes = () => {
        if (endsBefore) transport.end()
        transport.reset()
      }
      const transport = transports.accept(socket, server, { bytes, ended: () => {}, drained: () => {}, closed })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = await RawClient.connect((server.address() as net.AddressInfo).port)
    client.send('x')
    await client.untilEnd()
    expect(client.wasReset).toBe(!endsBefore)
    await gone
    client.close()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function echoing(transports: PlainTransports) {
  const events: string[] = []
  const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    const transport = transports.accept(socket, server, {
      bytes: (buffer, start, end) => transport.writeBytes(buffer, start, end),
      ended: () => {
        events.push('ended')
        transport.writeText('bye \u00e9')
        transport.end()
      },
      drained: () => {},
      closed: () => events.push('closed'),
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, events, client: await RawClient.connect((server.address() as net.AddressInfo).port) }
}

test.each(BOTH_TRANSPORTS)('accepted sockets echo, and end after their last bytes: $kind', async (transports) => {
  const { server, events, client } = await echoing(transports)
  const large = 'x'.repeat(100_000)
  client.send('hello \u00ff')
  await client.until((text) => text === 'hello \u00ff')
  client.send(large)
  await client.until((text) => text.endsWith(large))
  client.socket.end()
  expect((await client.untilClosed()).endsWith('xbye \u00e9')).toBe(true)
  await new Promise((resolve) => server.close(resolve))
  expect(events).toEqual(['ended', 'closed'])
})

/** A client socket made for `relay`, and the server's end of it. */
async function connected(relay: ReadRelay) {
  const server = net.createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[net.Socket]>
  const { port } = server.address() as net.AddressInfo
  const socket = net.connect({ port, host: '127.0.0.1', onread: relay.onread })
  const [peer] = await accepted
  onTestFinished(() => {
    socket.destroy()
    peer.destroy()
    server.close()
  })
  return { socket, peer }
}

test.each(BOTH_TRANSPORTS)('client sockets read unless paused, then report the end: $kind', async (transports) => {
  const relay = new ReadRelay()
  const throughStream = vi.spyOn(relay.onread, 'callback')
  const { socket, peer } = await connected(relay)
  let text = ''
  const events: string[] = []
  const transport = transports.open(socket, relay, {
    bytes: (buffer, start, end) => {
      text += buffer.latin1Slice(start, end)
    },
    ended: () => events.push('ended'),
    drained: () => {},
    closed: () => events.push('closed'),
  })
  peer.write('one ')
  await vi.waitFor(() => expect(text).toBe('one '))
  transport.pause()
  peer.write('two')
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(text).toBe('one ')
  transport.resume()
  await vi.waitFor(() => expect(text).toBe('one two'))
  peer.end()
  await vi.waitFor(() => expect(events[0]).toBe('ended'))
  transport.destroy()
  await vi.waitFor(() => expect(events).toEqual(['ended', 'closed']))
  if (transports === DIRECT_TRANSPORTS) expect(throughStream).not.toHaveBeenCalled()
  else expect(throughStream).toHaveBeenCalled()
})

test('what was received before a write fails is read', async () => {
  const relay = new ReadRelay()
  const { socket, peer } = await connected(relay)
  if (socket.connecting) await once(socket, 'connect')
  const events: string[] = []
  const transport = DIRECT_TRANSPORTS.open(socket, relay, {
    bytes: (buffer, start, end) => events.push(buffer.latin1Slice(start, end)),
    ended: () => events.push('ended'),
    drained: () => {},
    closed: () => events.push('closed'),
  })
  // In one turn: the response and the reset of the peer are in the kernel when the rest of the request is written.
  peer.write('too large')
  peer.resetAndDestroy()
  for (const size of [20_000, 20_000]) transport.writeBytes(Buffer.alloc(size), 0, size)
  await vi.waitFor(() => expect(events.at(-1)).toBe('closed'))
  expect(events).toEqual(['too large', 'closed'])
})
