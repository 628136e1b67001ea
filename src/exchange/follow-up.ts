import { Exchange } from './exchange.ts'

/** The same request, for work that goes on after its response: what that work notes does not change the response, which may still be on its way. */
export function followUp(answered: Exchange): Exchange {
  const exchange = new Exchange(answered.request.clone(), answered.peer)
  const { scheme, version, gateway, workloads, context, names, matchedPath, metadata, extauthz, extproc } = answered
  const { originalMethod, originalAuthority, originalTarget, startMonotonicMs } = answered
  Object.assign(exchange, { scheme, version, gateway, workloads, context, names, matchedPath })
  Object.assign(exchange, { metadata, extauthz, extproc, startMonotonicMs })
  Object.assign(exchange, { originalMethod, originalAuthority, originalTarget })
  Object.assign(exchange.identity, answered.identity)
  return exchange
}

/** Notes the outcome of the work for the request. Its response has been sent. */
export function noteOutcome(answered: Exchange, { mcp, attempts, refusal, refusalDetail, reason }: Exchange): void {
  answered.mcp = mcp
  answered.attempts = attempts
  // A response that is a refusal itself keeps its reason.
  if (answered.refusal === undefined) Object.assign(answered, { refusal, refusalDetail, reason })
}
