import type { ConnectedSocket } from './connected-socket.ts'
import { deliver } from './deliver.ts'
import { SocketTransport } from './socket-transport.ts'
import type { Transport, TransportOwner } from './transport.ts'

/** A transport that reads through `data` events: public API only. For TLS, and where shared read buffers do not work. */
export function openDataTransport(socket: ConnectedSocket, owner: TransportOwner): Transport {
  const transport = new SocketTransport(socket, owner)
  socket.on('data', (bytes: Buffer) => {
    deliver(owner, bytes, 0, bytes.length)
  })
  return transport
}
