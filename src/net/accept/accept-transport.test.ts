import { once } from 'node:events'
import net from 'node:net'
import { expect, test, vi } from 'vitest'
import { RawClient } from '../testing/raw-peers.ts'
import { type AcceptTransport, acceptData, adoptSocket, chooseAccept } from './accept-transport.ts'

test('accepted sockets share a read buffer on this Node', async () => {
  const warn = vi.spyOn(process, 'emitWarning')
  expect(await chooseAccept()).toBe(adoptSocket)
  expect(await chooseAccept()).toBe(adoptSocket)
  expect(warn).not.toHaveBeenCalled()
})

test.each([
  ['the shared read buffer', adoptSocket],
  ['data events', acceptData],
])('reset ends a connection with %s, also behind an orderly end', async (_, accept) => {
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
      const transport = accept(socket, server, { bytes, ended: () => {}, drained: () => {}, closed })
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

async function echoing(accept: AcceptTransport) {
  const events: string[] = []
  const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    const transport = accept(socket, server, {
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

test.each([
  ['the shared read buffer', adoptSocket],
  ['data events', acceptData],
])('a transport with %s', async (_, accept) => {
  const { server, events, client } = await echoing(accept)
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
