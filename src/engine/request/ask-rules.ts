import { Exchange } from '#exchange/exchange.ts'
import { wholeBody } from '#exchange/known-body.ts'
import type { Chain } from '../merge/chain.ts'

/**
 * Asks the rules of these chains that read bodies about another request, which the client did not send: with its fields as received, and
 * all that is known about the client.
 * @returns whether they would let it through with a body; undefined: no rule reads bodies
 */
export function askRules(
  chains: readonly (Chain | undefined)[],
  exchange: Exchange,
  method: string,
  target: string,
): ((body: Uint8Array) => boolean) | undefined {
  const rules = chains.flatMap((chain) => chain?.links.flatMap(({ run }) => run.allows ?? []) ?? [])
  if (rules.length === 0) return undefined
  const imagined = imagineRequest(exchange, method, target)
  return (body) => {
    imagined.requestBody = wholeBody(body)
    return rules.every((allows) => allows(imagined))
  }
}

function imagineRequest(exchange: Exchange, method: string, target: string): Exchange {
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
