import { Exchange } from '#exchange/exchange.ts'
import { Head } from '#net/http/head.ts'
import type { Peer } from '#net/peer.ts'
import type { ProxyContext } from './proxy-context.ts'

const NO_REQUEST = new Head()

/** What expressions see of a connection without a request. */
export function connectionExchange({ gateway, workloads }: ProxyContext, peer: Peer): Exchange {
  const exchange = new Exchange(NO_REQUEST, peer)
  exchange.gateway = gateway
  exchange.workloads = workloads
  return exchange
}
