import { Exchange } from './exchange.ts'

/**
 * Another request of the same client, which it did not send, to ask rules about it: with its fields as received, and all that is known about
 * the client.
 */
export function imagineRequest(exchange: Exchange, method: string, target: string): Exchange {
  const head = exchange.request.cloneAsReceived()
  head.method = method
  head.target = target
  const imagined = new Exchange(head, exchange.peer)
  const { scheme, version, startMonotonicMs, gateway, workloads, context, names, matchedPath } = exchange
  const { originalAuthority, metadata, extauthz, extproc } = exchange
  Object.assign(imagined, { scheme, version, startMonotonicMs, gateway, workloads, context, names, matchedPath })
  Object.assign(imagined, { originalAuthority, metadata, extauthz, extproc })
  Object.assign(imagined, { originalMethod: method, originalTarget: target })
  Object.assign(imagined.identity, exchange.identity)
  return imagined
}
