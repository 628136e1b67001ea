import type net from 'node:net'
import type { Peer } from '../stream.ts'

/** The peer of a plain connection; undefined when it has gone already. */
export function peerOf(socket: net.Socket): Peer | undefined {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  if (remoteAddress === undefined || remotePort === undefined) return undefined
  return {
    remoteAddress,
    remotePort,
    rawAddress: remoteAddress,
    rawPort: remotePort,
    localAddress: localAddress ?? '',
    localPort: localPort ?? 0,
    secure: false,
    serverName: undefined,
    certificate: undefined,
  }
}
