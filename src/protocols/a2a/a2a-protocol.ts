import { type A2aCall, readA2aCall } from '#exchange/a2a-call.ts'
import type { A2aFacts } from '#exchange/a2a-facts.ts'
import { EXTENDED_CARD, methodOfPath } from '#exchange/a2a-methods.ts'
import { refuseMisused } from '#exchange/a2a-refusal.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { wholeBody } from '#exchange/known-body.ts'
import type { Refusal } from '#exchange/outcome.ts'
import { callOf } from '#exchange/variables/a2a-variables.ts'
import { tls } from '#policies/backend/tls/index.ts'
import { hostAddress } from '../address.ts'
import type { BackendProtocol, EndpointName, ProtocolAttempt, ProtocolRun } from '../backend-protocol.ts'
import { selectAnswerFacts } from './answer/answer-facts.ts'
import { type A2aBackendSpec, a2aBackend } from './backend-schema.ts'
import { askForWholeCard, type CardForm, selectCardAnswer } from './card-answer.ts'
import { cardLocation } from './card-location.ts'
import { describeA2a, explainA2a } from './explain-a2a.ts'

/** An agent that speaks A2A (specification 1, 2.3.2). The gateway rewrites the URLs of its card and reads the methods of calls. */
export const a2a = {
  name: 'a2a',
  schema: a2aBackend,
  // Agents can take long.
  responseTimeoutMs: 0,
  rewritesHost: true,
  addresses: ({ spec }) => [[hostAddress(spec)]],
  compile(backend, settings, context) {
    // An agent is contacted in plain text unless a policy says otherwise (decision B89).
    if (backend.spec.port === 443 && settings.of(tls).length === 0) {
      const message = 'is contacted in plain text, also on port 443; set policies.tls, or another port'
      context.report(backend, '.port', { code: 'inconsistent', message, severity: 'warning' })
    }
    return A2A
  },
} as const satisfies BackendProtocol<A2aBackendSpec> & { readonly schema: unknown }

const A2A: ProtocolRun = {
  bodyNeed: ({ request }) => (hasMessage(request.method, request.target) ? 'start' : 'none'),
  prepare: prepareAgent,
  noteRefused: (exchange) => {
    exchange.a2a ??= { method: callOf(exchange).method }
  },
  explain: (exchange, endpoint) => {
    if (endpoint === undefined) return undefined
    return { lines: describeA2a(explainA2a(exchange, endpoint.label)) }
  },
}

/** Whether the method of a request may be in its body. */
function hasMessage(method: string, target: string): boolean {
  if (method !== 'POST') return false
  const ofPath = methodOfPath(method, target)
  return ofPath === undefined || ofPath.allow !== undefined
}

/** Reads the method for log and traces. A card is asked for in a form that can be rewritten. */
function prepareAgent(exchange: Exchange, endpoint: EndpointName, attempt: ProtocolAttempt): Refusal | undefined {
  const { request, requestBody, newRequestBody } = exchange
  const call = readA2aCall(request, newRequestBody === undefined ? requestBody : wholeBody(newRequestBody))
  const misused = refuseMisused(call)
  if (misused !== undefined) return misused
  const { method, binding } = call
  if (binding === undefined && request.method !== 'POST') return undefined
  const facts: A2aFacts = { method }
  exchange.a2a = facts
  const form = cardForm(method, binding)
  if (form === undefined) {
    if (binding !== 'grpc') attempt.selectFilter = selectAnswerFacts(facts, binding === 'jsonrpc')
    return undefined
  }
  const location = cardLocation(exchange, endpoint.label)
  attempt.selectFilter = selectCardAnswer({ form, location, known: askForWholeCard(request, form) })
  return undefined
}

function cardForm(method: string, binding: A2aCall['binding']): CardForm | undefined {
  if (binding === 'card') return 'card'
  if (method !== EXTENDED_CARD) return undefined
  if (binding === 'grpc') return 'grpc'
  return binding === 'rest' ? 'card' : 'result'
}
