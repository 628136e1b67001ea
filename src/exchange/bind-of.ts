import { hostPort } from '#base/host-port.ts'
import type { Peer } from '#net/peer.ts'

/** Where the connection was accepted: `127.0.0.1:8080`, `[::1]:8080`. */
export function bindOf({ localAddress, localPort }: Peer): string {
  return hostPort(localAddress, localPort)
}
