import type { Exchange } from '#exchange/exchange.ts'
import { tls } from '#policies/backend/tls/index.ts'
import { hostAddress } from '../address.ts'
import type { BackendProtocol, EndpointName, ProtocolAttempt, ProtocolRun, SelectFilter } from '../backend-protocol.ts'
import { type A2aBackendSpec, a2aBackend } from './backend-schema.ts'
import { CardFilter } from './card-filter.ts'
import { type CardLocation, cardLocation } from './card-location.ts'
import { classifyRequest } from './classify-request.ts'
import { describeA2a, explainA2a } from './explain-a2a.ts'
import { readMethod } from './read-method.ts'

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
  // Only the log and rules on the method read calls, so a large call is not buffered.
  bodyNeed: () => 'whole-if-small',
  prepare: prepareAgent,
  explain: (exchange, endpoint) => {
    if (endpoint === undefined) return undefined
    return { lines: describeA2a(explainA2a(exchange, endpoint.label, exchange.requestBody ?? undefined)) }
  },
}

/** An agent card must not be compressed, because the gateway reads it. Of calls it reads only the method. */
function prepareAgent(exchange: Exchange, endpoint: EndpointName, attempt: ProtocolAttempt): undefined {
  const { request } = exchange
  switch (classifyRequest(request.method, request.target)) {
    case 'agent-card':
      request.set('accept-encoding', 'identity')
      exchange.a2aMethod = 'agent-card'
      attempt.selectFilter = cardFilter(cardLocation(exchange, endpoint.label))
      break
    case 'call':
      exchange.a2aMethod = readMethod(request.get('content-type'), exchange.requestBody ?? undefined)
      break
    case 'other':
      break
  }
}

/** Only a card that was found is rewritten. */
function cardFilter(location: CardLocation): SelectFilter {
  return ({ response }, claim) => {
    if (response?.status !== 200) return undefined
    return { changesLength: true, into: (sink) => new CardFilter(sink, response, { location, claim }) }
  }
}
