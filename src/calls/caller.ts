import type { Exchange } from '#exchange/exchange.ts'
import type { Peer } from '#net/peer.ts'

/** In whose name a call is made, for the backend policies of its destination. */
export type Caller = Pick<Exchange, 'peer' | 'names' | 'identity' | 'metadata' | 'gateway' | 'workloads'>

/**
 * Taken when the call is prepared, not when it is made: some calls end a session after the client has left, and its connection
 * serves another request then.
 */
export function captureCaller({ peer, names, identity, metadata, gateway, workloads }: Caller): Caller {
  return { peer, names, identity: { ...identity }, metadata, gateway, workloads }
}

const NO_PEER: Peer = {
  remoteAddress: '',
  remotePort: 0,
  rawAddress: '',
  rawPort: 0,
  localAddress: '',
  localPort: 0,
  secure: false,
  serverName: undefined,
  certificate: undefined,
}

/** The gateway itself, when no request has caused the call. */
export const GATEWAY_ITSELF: Caller = {
  peer: NO_PEER,
  names: undefined,
  identity: { jwt: undefined, apiKey: undefined, basicAuth: undefined },
  metadata: undefined,
  gateway: undefined,
  workloads: undefined,
}
