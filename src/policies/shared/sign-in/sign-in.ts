import { clientOrigin } from '#exchange/client-origin.ts'
import type { Exchange, StepUp } from '#exchange/exchange.ts'
import { type Outcome, type Refusal, reject } from '#exchange/outcome.ts'
import { normalPath } from '#net/http/path-form.ts'
import { adaptServerMetadata } from './adapt-server-metadata.ts'
import { Unavailable } from './authorization-server.ts'
import { RESOURCE_METADATA, type SignInEndpoint } from './endpoint.ts'
import { answerJson, answerPreflight, corsFields, METHODS } from './json-answer.ts'
import { neededScopes, withScopes } from './needed-scopes.ts'
import { protectedResource } from './protected-resource.ts'
import { registerClient } from './register-client.ts'
import type { SignInPlan } from './sign-in-plan.ts'
import { unavailable } from './unavailable.ts'

/** In every 401, whatever the cause: what clients of MCP look for (decision B78). */
const UNAUTHORIZED = JSON.stringify({ error: 'unauthorized', error_description: 'JWT token required' })

/** How MCP clients of a policy sign in (specification 1, 5.3 and 4.2). */
export class SignIn implements StepUp {
  readonly #plan: SignInPlan

  constructor(plan: SignInPlan) {
    this.#plan = plan
  }

  /** Serves one of the endpoints; only the part of the exchange that was received counts. */
  answer(endpoint: SignInEndpoint, exchange: Exchange): Outcome | Promise<Outcome> {
    const { method } = exchange.request
    const { kind } = endpoint
    if (method === 'OPTIONS') return answerPreflight(kind)
    if (!METHODS[kind].includes(method)) return refuseMethod(kind)
    const origin = clientOrigin(exchange)
    switch (kind) {
      case 'resource':
        return answerJson(kind, 200, JSON.stringify(protectedResource(this.#plan, origin, endpoint.path)))
      case 'registration':
        return registerClient(this.#plan, exchange)
      case 'server':
        return this.#answerForServer(origin, endpoint.path, exchange)
    }
  }

  /** The refusal of a missing or invalid token, as MCP clients expect it: the first parameter is the metadata (decision B78). */
  challenge(refusal: Refusal, exchange: Exchange): Refusal {
    const { scopes } = this.#plan
    const invalid = refusal.code === 'jwt-missing' ? [] : ['error="invalid_token"']
    const scope = scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]
    return {
      ...refusal,
      status: 401,
      headers: [this.#challenge(exchange, [...invalid, ...scope])],
      body: UNAUTHORIZED,
      contentType: 'application/json',
    }
  }

  challengeScopes(exchange: Exchange, allows: () => boolean): Refusal['headers'] | undefined {
    const { identity } = exchange
    const { jwt } = identity
    if (jwt === undefined) return undefined
    const scopes = neededScopes(jwt.claims, this.#plan.scopes, (added) => {
      identity.jwt = { ...jwt, claims: withScopes(jwt.claims, added) }
      try {
        return allows()
      } finally {
        identity.jwt = jwt
        exchange.exceeded = undefined
      }
    })
    if (scopes === undefined) return undefined
    return [this.#challenge(exchange, ['error="insufficient_scope"', `scope="${scopes.join(' ')}"`])]
  }

  #challenge(exchange: Exchange, parameters: readonly string[]): readonly [string, string] {
    const origin = this.#plan.resourceOrigin ?? clientOrigin(exchange)
    const path = normalPath(exchange.originalTarget.split('?')[0]!)
    const metadata = quotable(origin + RESOURCE_METADATA + (path === '/' ? '' : path))
    return ['www-authenticate', [`Bearer resource_metadata="${metadata}"`, ...parameters].join(', ')]
  }

  #answerForServer(origin: string, path: string, exchange: Exchange): Outcome | Promise<Outcome> {
    return this.#plan.server.withMetadata(exchange, (found) =>
      found instanceof Unavailable
        ? unavailable('server', found)
        : answerJson('server', 200, JSON.stringify(adaptServerMetadata(this.#plan, found, origin, path))),
    )
  }
}

/** Percent-encodes what may not stand in a quoted string without an escape. */
function quotable(url: string): string {
  return url.toWellFormed().replace(/[^!#-[\]-~]/gu, encodeURIComponent)
}

function refuseMethod(kind: SignInEndpoint['kind']): Refusal {
  return reject('method-not-allowed', { headers: [['allow', METHODS[kind].join(', ')], ...corsFields(kind)] })
}
