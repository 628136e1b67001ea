import type net from 'node:net'
import type { Peer } from '../peer.ts'

/** The peer of a plain connection; undefined when it has already disconnected. */
export function peerOf(socket: net.Socket): Peer | undefined {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  if (remoteAddress === undefined || remotePort === undefined) return undefined
  const address = plainAddress(remoteAddress)
  return {
    remoteAddress: address,
    remotePort,
    rawAddress: address,
    rawPort: remotePort,
    localAddress: plainAddress(localAddress ?? ''),
    localPort: localPort ?? 0,
    secure: false,
    serverName: undefined,
    certificate: undefined,
  }
}

/** Converts an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2), which a dual-stack socket reports, to the IPv4 address that rules use. */
function plainAddress(address: string): string {
  return MAPPED.test(address) ? address.slice(MAPPED_PREFIX.length) : address
}

const MAPPED_PREFIX = '::ffff:'
const MAPPED = /^::ffff:\d+\.\d+\.\d+\.\d+$/i
