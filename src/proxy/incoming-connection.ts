import type { LiveSocket } from '#engine/route/live-listener.ts'
import type { Peer } from '#net/peer.ts'
import type { IncomingConnection } from '#observe/observer.ts'

/**
 * Names for a connection: with TLS, of the listener for its server name; without TLS, those that the listeners of the socket have in
 * common.
 */
export function incomingConnection(
  socket: LiveSocket,
  peer: Peer,
  protocol: IncomingConnection['protocol'],
): IncomingConnection {
  const named = peer.secure ? socket.serverNames.first(peer.serverName ?? '', (listener) => listener) : undefined
  const listeners = named === undefined ? socket.listeners : [named]
  const common = (key: 'gateway' | 'listener') => {
    const [name = '', ...others] = new Set(listeners.map(({ names }) => names[key]))
    return others.length === 0 ? name : ''
  }
  return { peer, protocol, gateway: common('gateway'), listener: common('listener') }
}
