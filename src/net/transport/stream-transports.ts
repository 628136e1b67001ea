import { openDataTransport } from './data-transport.ts'
import type { PlainTransports } from './plain-transports.ts'
import { ReadRelay } from './read-relay.ts'
import { SocketTransport } from './socket-transport.ts'

/** Works with every Node, because it uses documented API only. */
export const STREAM_TRANSPORTS: PlainTransports = {
  kind: 'streams',
  accept(accepted, _server, owner) {
    const transport = openDataTransport(accepted, owner)
    accepted.resume()
    return transport
  },
  newRelay: () => new ReadRelay(),
  open(socket, relay, owner) {
    relay.owner = owner
    return new SocketTransport(socket, owner)
  },
}
