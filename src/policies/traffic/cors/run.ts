import { trimSpace } from '#base/byte-text.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed } from '#exchange/outcome.ts'
import { addVary } from '#net/http/add-vary.ts'
import { Head } from '#net/http/head.ts'
import { parseOrigin } from '../../shared/url/web-origin.ts'
import type { OriginPattern } from './origin-pattern.ts'

export interface CorsPlan {
  readonly allowsAll: boolean
  readonly origins: readonly OriginPattern[]
  /** Comma-separated; `*`: those that the client requests; undefined: none. */
  readonly methods: string | undefined
  readonly headers: string | undefined
  readonly exposed: string | undefined
  readonly credentials: boolean
  /** Seconds. */
  readonly maxAge: string
}

/** Headers with which a response permits its origin to read it. */
const PERMISSIONS = ['access-control-allow-origin', 'access-control-allow-credentials', 'access-control-expose-headers']

/**
 * Responds to preflights before authentication, and queues the headers that a browser needs on other responses, including refusals
 * (decision A-84). With a policy in each phase, the permissions of the later one replace those of the earlier one: repeated headers permit
 * nothing (Fetch, CORS check).
 */
export function runCors(plan: CorsPlan, exchange: Exchange): Outcome {
  const { request } = exchange
  const origin = request.joined('origin')
  if (origin === undefined) return proceed
  const allowed = isAllowed(plan, origin)
  const method = request.method === 'OPTIONS' ? request.get('access-control-request-method') : undefined
  if (method) return preflight(plan, allowed ? origin : undefined, method, exchange)
  exchange.withdrawHeaders(PERMISSIONS)
  if (!allowed) return proceed
  exchange.queueHeader('access-control-allow-origin', origin)
  if (plan.credentials) exchange.queueHeader('access-control-allow-credentials', 'true')
  if (plan.exposed !== undefined) exchange.queueHeader('access-control-expose-headers', plan.exposed)
  return proceed
}

/** The policy reads Origin, so every response depends on it, even without an Origin (Fetch, CORS protocol and caches). */
export function varyByOrigin({ response }: Exchange): Outcome {
  if (response !== undefined) addVary(response, 'Origin')
  return proceed
}

function isAllowed(plan: CorsPlan, origin: string): boolean {
  if (plan.allowsAll) return true
  const parsed = parseOrigin(origin)
  return parsed !== undefined && plan.origins.some((matches) => matches(parsed))
}

/** An origin that is not allowed gets the same status without permissions; nothing is forwarded. */
function preflight(plan: CorsPlan, origin: string | undefined, method: string, { request }: Exchange): Outcome {
  const head = Head.response(200)
  if (origin !== undefined) {
    head.set('access-control-allow-origin', origin)
    if (plan.methods !== undefined) {
      head.set('access-control-allow-methods', plan.methods === '*' ? method : plan.methods)
    }
    const headers = allowedHeaders(plan, request.joined('access-control-request-headers'))
    if (headers !== undefined) head.set('access-control-allow-headers', headers)
    if (plan.credentials) head.set('access-control-allow-credentials', 'true')
    if (plan.exposed !== undefined) head.set('access-control-expose-headers', plan.exposed)
    head.set('access-control-max-age', plan.maxAge)
  }
  head.set('vary', 'Origin')
  return { kind: 'answer', head, body: undefined }
}

/** `*` is replaced by the requested headers, because with credentials a browser takes it literally. */
function allowedHeaders(plan: CorsPlan, requested: string | undefined): string | undefined {
  if (plan.headers !== '*') return plan.headers
  const names = (requested ?? '')
    .split(',')
    .map(trimSpace)
    .filter((name) => name !== '')
  return names.length === 0 ? undefined : names.join(', ')
}
