import type { Exchange } from '#exchange/exchange.ts'
import type { Outcome } from '#exchange/outcome.ts'
import type { LiveEndpoint } from '../backend/live-backend.ts'
import { refuseExceeded, runChain } from './chain.ts'
import { checkNominated } from './check-connection.ts'
import type { Decision } from './decide.ts'

/** A larger body is passed on without being looked into, where looking is a courtesy only. */
const MAX_READ_BYTES = 2 * 1024 * 1024

/** Whether the body of a request must be here as a whole before it is sent. */
export function needsWholeBody({ backend }: Decision, exchange: Exchange): boolean {
  const need = backend?.protocol.bodyNeed?.(exchange) ?? 'none'
  const { contentLength } = exchange.request
  return need === 'whole' || (need === 'whole-if-small' && contentLength > 0 && contentLength <= MAX_READ_BYTES)
}

/**
 * Makes `exchange.request` (and `newRequestBody`) what one endpoint is sent: backend policies, host, protocol. Runs for every attempt,
 * on a request that no other attempt has changed.
 * @returns undefined when it is to be sent
 */
export function prepareAttempt(
  endpoint: LiveEndpoint,
  exchange: Exchange,
  decision: Decision,
): Outcome | Promise<Outcome> {
  decision.endpoint = endpoint
  decision.selectFilter = undefined
  if (endpoint.refusal !== undefined) return endpoint.refusal
  const taken = checkNominated(exchange.request, endpoint.chain)
  if (taken !== undefined) return taken
  const outcome = runChain(endpoint.chain, exchange, decision.backendProgress)
  if (outcome instanceof Promise) return outcome.then((late) => late ?? finish(endpoint, exchange, decision))
  return outcome ?? finish(endpoint, exchange, decision)
}

function finish(endpoint: LiveEndpoint, exchange: Exchange, decision: Decision): Outcome {
  const { path, backend } = decision
  const unfit = path.read(exchange)
  if (unfit !== undefined) return unfit
  rewriteHost(endpoint, exchange)
  if (backend?.protocol.prepare === undefined) return undefined
  const outcome = backend.protocol.prepare(exchange, endpoint, decision)
  return refuseExceeded(exchange, 'expression-exceeded-request') ?? outcome ?? path.read(exchange)
}

/** `hostRewrite` (specification 2, 2.2.4): automatic for destinations with a hostname, unless something already set the host. */
function rewriteHost({ hostname, rewritesHost }: LiveEndpoint, exchange: Exchange): void {
  if (hostname === undefined || exchange.hostRewritten || exchange.hostRewrite === 'None') return
  if (exchange.hostRewrite === 'Auto' || rewritesHost) exchange.request.authority = hostname
}
