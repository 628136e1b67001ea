import type { Exchange } from '#exchange/exchange.ts'
import { joinLlmReads, type LlmReads } from '#exchange/llm-reads.ts'
import type { Outcome } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { cardPlace } from '#protocols/a2a/card-place.ts'
import { classifyRequest } from '#protocols/a2a/classify-request.ts'
import { readMethod } from '#protocols/a2a/read-method.ts'
import { prepareLlmRequest, routeTypeOf } from '#protocols/llm/prepare-request.ts'
import { bodyNeed } from '#protocols/llm/route-type.ts'
import type { EndpointPlace } from './backend-place.ts'
import { refuseExceeded, runChain } from './chain.ts'
import { checkNominated } from './check-connection.ts'
import { type Decision, readsResponseBody } from './decide.ts'

/** A larger body is passed on without being looked into, where looking is a courtesy only. */
const MAX_READ_BYTES = 2 * 1024 * 1024

/** Whether the body of a request must be here as a whole before it is sent. Providers of one backend agree on the route type. */
export function needsWholeBody({ backend }: Decision, exchange: Exchange): boolean {
  const { contentLength } = exchange.request
  if (backend?.item.type === 'a2a') return contentLength > 0 && contentLength <= MAX_READ_BYTES
  const provider = backend?.ai?.providers[0]
  if (provider === undefined) return false
  const need = bodyNeed(routeTypeOf(provider, exchange))
  return need === 'whole' || (need === 'whole-if-small' && contentLength > 0 && contentLength <= MAX_READ_BYTES)
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
  const taken = checkNominated(exchange.request, endpoint.chain)
  if (taken !== undefined) return taken
  const outcome = runChain(endpoint.chain, exchange, decision.backendProgress)
  if (outcome instanceof Promise) return outcome.then((late) => late ?? finish(endpoint, exchange, decision))
  return outcome ?? finish(endpoint, exchange, decision)
}

function finish(endpoint: EndpointPlace, exchange: Exchange, decision: Decision): Outcome {
  const unfit = decision.path.read(exchange)
  if (unfit !== undefined) return unfit
  rewriteHost(endpoint, exchange)
  const { backend } = decision
  if (backend?.item.type === 'a2a') prepareAgent(endpoint, exchange, decision)
  if (backend?.ai === undefined) return undefined
  const outcome = prepareProvider(endpoint, exchange, decision)
  return refuseExceeded(exchange, 'expression-exceeded-request') ?? outcome
}

/** An agent card has to come in a form that can be read; of calls only the method is of interest. */
function prepareAgent(endpoint: EndpointPlace, exchange: Exchange, decision: Decision): void {
  const { request } = exchange
  switch (classifyRequest(request.method, request.target)) {
    case 'agent-card':
      request.set('accept-encoding', 'identity')
      exchange.a2aMethod = 'agent-card'
      decision.agentCard = cardPlace(exchange, endpoint.label)
      break
    case 'call':
      exchange.a2aMethod = readMethod(request.get('content-type'), exchange.requestBody ?? undefined)
      break
    case 'other':
      break
  }
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
    reads: llmReads(exchange, decision),
    maxKept: decision.frontend!.maxBufferBytes,
  })
  if (prepared.kind === 'refusal') return prepared
  if (prepared.kind === 'llm-answer') {
    const head = Head.response(200)
    head.set('content-type', 'application/json')
    return { kind: 'answer', head, body: prepared.body }
  }
  const { request } = exchange
  request.target = prepared.path
  const unfit = decision.path.read(exchange)
  if (unfit !== undefined) return unfit
  for (const name of prepared.headers.remove) request.remove(name)
  for (const [name, value] of prepared.headers.set) request.set(name, value)
  if (prepared.body !== undefined) exchange.newRequestBody = prepared.body
  exchange.llm = prepared.facts
  decision.llmResponse = prepared.response
  return undefined
}

/** What is read of the call by whatever runs or looks at it afterwards. */
function llmReads(exchange: Exchange, decision: Decision): LlmReads {
  const { preRouting, postRouting, endpoint, frontend } = decision
  const all = [frontend!.llmReads]
  // Response policies see what the model wrote only where they wait for the body.
  if (readsResponseBody(decision) !== false) {
    for (const chain of [preRouting, postRouting, endpoint?.chain]) if (chain !== undefined) all.push(chain.llmReads)
  }
  const reads = joinLlmReads(all)
  return exchange.tokenLimits === undefined ? reads : { ...reads, tokens: true }
}
