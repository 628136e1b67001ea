import { once } from 'node:events'
import net from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openOnreadTransport, ReadRelay } from './onread-transport.ts'

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

test('bytes come from the handle, not through the stream; ends come as ever', async () => {
  const relay = new ReadRelay()
  const throughStream = vi.spyOn(relay.onread, 'callback')
  const { socket, peer } = await connected(relay)
  let text = ''
  const events: string[] = []
  const transport = openOnreadTransport(socket, relay, {
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
  expect(throughStream).not.toHaveBeenCalled()
})
