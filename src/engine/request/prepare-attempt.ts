import type { BodyUse } from '#exchange/body-use.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Outcome } from '#exchange/outcome.ts'
import type { EndpointName } from '#exchange/session.ts'
import { afterwards } from '#exchange/step.ts'
import type { Head } from '#net/http/head.ts'
import type { LiveEndpoint } from '../backend/live-backend.ts'
import { findPlace, isRefusal, RequestedPlaces } from '../backend/place.ts'
import { refuseExceeded, runChain } from '../merge/chain.ts'
import { sessionNameOf } from '../route/session-endpoint.ts'
import { checkNominated } from './check-connection.ts'
import type { Decision } from './decide.ts'

/** With `whole-if-small`, larger bodies are forwarded without being parsed. */
const MAX_READ_BYTES = 2 * 1024 * 1024

/** The part of a request body that the protocol of the backend needs before the request is sent. */
export function neededBody({ backend }: Decision, exchange: Exchange): BodyUse {
  const need = backend?.protocol.bodyNeed?.(exchange) ?? 'none'
  if (need === 'start') return 'prefix'
  const { contentLength } = exchange.request
  return need === 'whole' || (need === 'whole-if-small' && contentLength > 0 && contentLength <= MAX_READ_BYTES)
}

/** Whether the body of a request, which was read, must be decoded before its protocol can use it. */
export function needsDecodedBody({ backend }: Decision, exchange: Exchange): boolean {
  if (backend?.protocol.bodyNeed === undefined || !exchange.request.has('content-encoding')) return false
  const body = exchange.newRequestBody ?? exchange.requestBody.whole
  return body !== undefined && body.length > 0 && backend.protocol.bodyNeed(exchange) === 'whole'
}

/** The part of the body that must be available before an attempt begins. @param request as the attempt begins with it */
export function attemptBodyUse({ chain }: LiveEndpoint, request: Head): BodyUse {
  return chain.signature?.coversBody(request) === true ? true : chain.readsRequestBody
}

/**
 * Changes `exchange.request` (and `newRequestBody`) for one endpoint: backend policies, host, protocol, signature. Each attempt must start with an
 * unchanged copy of the request.
 * @returns undefined if the request is to be sent
 */
export function prepareAttempt(
  endpoint: LiveEndpoint,
  exchange: Exchange,
  decision: Decision,
): Outcome | Promise<Outcome> {
  decision.endpoint = endpoint
  decision.place = undefined
  decision.backendProgress.restart()
  // Of an attempt before.
  exchange.decidedBy = undefined
  decision.selectFilter = undefined
  decision.selectTunnelFilter = undefined
  decision.settle = undefined
  exchange.signBody = undefined
  if (exchange.session !== undefined) exchange.session.used = sessionEndpoint(endpoint, decision)
  if (endpoint.refusal !== undefined) return endpoint.refusal
  const refusal = checkNominated(exchange.request, endpoint.chain)
  if (refusal !== undefined) return refusal
  // The gateway is the proxy server that the client has this credential for, and not the server that it names (RFC 9110, 11.7.2).
  if (endpoint.place instanceof RequestedPlaces) exchange.request.remove('proxy-authorization')
  if (decision.backend?.protocol.readsClientHead === true) exchange.clientHead = exchange.request.clone()
  const outcome = runChain(endpoint.chain, exchange, decision.backendProgress)
  if (outcome instanceof Promise) return outcome.then((refusal) => refusal ?? finish(endpoint, exchange, decision))
  return outcome ?? finish(endpoint, exchange, decision)
}

function sessionEndpoint(endpoint: LiveEndpoint, { backend }: Decision): EndpointName | undefined {
  return backend && { backend: backend.item.key, endpoint: sessionNameOf(endpoint) }
}

function finish(endpoint: LiveEndpoint, exchange: Exchange, decision: Decision): Outcome | Promise<Outcome> {
  const { path, backend } = decision
  if (endpoint.target !== undefined) exchange.request.target = endpoint.target
  const refusal = path.read(exchange)
  if (refusal !== undefined) return refusal
  rewriteHost(endpoint, exchange)
  const place = findPlace(endpoint.place, exchange.request.authority)
  if (isRefusal(place)) return place
  decision.place = place
  exchange.span?.beginAttempt(exchange.request, exchange.retries)
  const { signature } = endpoint.chain
  if (backend?.protocol.prepare === undefined) return signature?.sign(exchange)
  const outcome = backend.protocol.prepare(exchange, endpoint, decision)
  if (!(outcome instanceof Promise)) return finishPrepared(endpoint, exchange, decision, outcome)
  return afterwards(exchange, outcome, (settled) => finishPrepared(endpoint, exchange, decision, settled))
}

/** Signs what the protocol has made of the request. */
function finishPrepared(
  { chain }: LiveEndpoint,
  exchange: Exchange,
  { path }: Decision,
  outcome: Outcome,
): Outcome | Promise<Outcome> {
  return (
    refuseExceeded(exchange, 'expression-exceeded-request') ??
    outcome ??
    path.read(exchange) ??
    chain.signature?.sign(exchange)
  )
}

/** Applies `hostRewrite` (specification 2, 2.2.4): automatic for destinations with a hostname, unless a filter has set the host. */
function rewriteHost({ hostname, rewritesHost }: LiveEndpoint, exchange: Exchange): void {
  if (hostname === undefined || exchange.hostRewritten || exchange.hostRewrite === 'None') return
  if (exchange.hostRewrite === 'Auto' || rewritesHost) exchange.request.authority = hostname
}
