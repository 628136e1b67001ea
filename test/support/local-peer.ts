import type { Peer } from '#net/peer.ts'

/** A client at the loopback address, without TLS. */
export const LOCAL_PEER: Peer = {
  remoteAddress: '127.0.0.1',
  remotePort: 1,
  rawAddress: '127.0.0.1',
  rawPort: 1,
  localAddress: '127.0.0.1',
  localPort: 2,
  secure: false,
  serverName: undefined,
  certificate: undefined,
}
