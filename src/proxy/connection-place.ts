import type { SocketPlace } from '#engine/route/places.ts'
import type { Peer } from '#net/peer.ts'
import type { ConnectionPlace } from '#observe/observer.ts'

/** Where a connection came in: under TLS the listener of its server name, else what the listeners of the socket have in common. */
export function connectionPlace(
  socket: SocketPlace,
  peer: Peer,
  protocol: ConnectionPlace['protocol'],
): ConnectionPlace {
  const named = peer.secure ? socket.serverNames.first(peer.serverName ?? '', (place) => place) : undefined
  const listeners = named === undefined ? socket.listeners : [named]
  const common = (key: 'gateway' | 'listener') => {
    const [name = '', ...others] = new Set(listeners.map(({ names }) => names[key]))
    return others.length === 0 ? name : ''
  }
  return { peer, protocol, gateway: common('gateway'), listener: common('listener') }
}
