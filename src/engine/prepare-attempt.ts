import type { Exchange } from '#exchange/exchange.ts'
import type { Outcome } from '#exchange/outcome.ts'
import { Head } from '#net/http1/head.ts'
import { prepareLlmRequest, routeTypeOf } from '#protocols/llm/prepare-request.ts'
import { bodyNeed } from '#protocols/llm/route-type.ts'
import type { EndpointPlace } from './backend-place.ts'
import { runChain } from './chain.ts'
import type { Decision } from './decide.ts'

/** Whether a request can only be sent when its body is known as a whole. Providers of one backend agree on the route type. */
export function needsWholeBody({ backend }: Decision, exchange: Exchange): boolean {
  const provider = backend?.ai?.providers[0]
  return provider !== undefined && bodyNeed(routeTypeOf(provider, exchange)) === 'whole'
}

/**
 * Makes `exchange.request` (and `newRequestBody`) what one endpoint is sent: backend policies, host, protocol. Runs for every attempt,
 * on a request that no other attempt has changed.
 * @returns undefined when it is to be sent
 */
export function prepareAttempt(
  endpoint: EndpointPlace,
  exchange: Exchange,
  decision: Decision,
): Outcome | Promise<Outcome> {
  decision.endpoint = endpoint
  if (endpoint.refusal !== undefined) return endpoint.refusal
  const outcome = runChain(endpoint.chain, exchange, decision.backendProgress)
  if (outcome instanceof Promise) return outcome.then((late) => late ?? finish(endpoint, exchange, decision))
  return outcome ?? finish(endpoint, exchange, decision)
}

function finish(endpoint: EndpointPlace, exchange: Exchange, decision: Decision): Outcome {
  rewriteHost(endpoint, exchange)
  return decision.backend?.ai === undefined ? undefined : prepareProvider(endpoint, exchange, decision)
}

/** `hostRewrite` (specification 2, 2.2.4): automatic for destinations with a hostname, unless something already set the host. */
function rewriteHost({ hostname, rewritesHost }: EndpointPlace, exchange: Exchange): void {
  if (hostname === undefined || exchange.hostRewritten || exchange.hostRewrite === 'None') return
  if (exchange.hostRewrite === 'Auto' || rewritesHost) exchange.request.authority = hostname
}

/** After the backend policies, since those bring the credential that the provider may want in another field. */
function prepareProvider(endpoint: EndpointPlace, exchange: Exchange, decision: Decision): Outcome {
  const plan = decision.backend!.ai!
  const provider = plan.providers.findIndex(({ name }) => name === endpoint.section || name === '')
  const body = exchange.newRequestBody ?? exchange.requestBody ?? undefined
  const prepared = prepareLlmRequest(plan, provider, exchange, {
    body,
    usageNeeded: exchange.tokenLimits !== undefined,
  })
  if (prepared.kind === 'refusal') return prepared
  if (prepared.kind === 'llm-answer') {
    const head = Head.response(200)
    head.set('content-type', 'application/json')
    return { kind: 'answer', head, body: prepared.body }
  }
  const { request } = exchange
  request.target = prepared.path
  for (const name of prepared.headers.remove) request.remove(name)
  for (const [name, value] of prepared.headers.set) request.set(name, value)
  if (prepared.body !== undefined) exchange.newRequestBody = prepared.body
  exchange.llm = prepared.facts
  decision.llmResponse = prepared.response
  return undefined
}
