import type { LiveSocket } from '#engine/route/live-listener.ts'
import type { Peer } from '#net/peer.ts'
import type { IncomingConnection } from '#observe/observer.ts'

/** Where a connection came in: under TLS the listener of its server name, else what the listeners of the socket have in common. */
export function incomingConnection(
  socket: LiveSocket,
  peer: Peer,
  protocol: IncomingConnection['protocol'],
): IncomingConnection {
  const named = peer.secure ? socket.serverNames.first(peer.serverName ?? '', (place) => place) : undefined
  const listeners = named === undefined ? socket.listeners : [named]
  const common = (key: 'gateway' | 'listener') => {
    const [name = '', ...others] = new Set(listeners.map(({ names }) => names[key]))
    return others.length === 0 ? name : ''
  }
  return { peer, protocol, gateway: common('gateway'), listener: common('listener') }
}
