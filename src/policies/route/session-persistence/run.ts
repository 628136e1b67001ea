import { openJson, type Sealer, sealJson } from '#base/sealer.ts'
import { backendName } from '#exchange/backend-name.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed } from '#exchange/outcome.ts'
import type { EndpointName } from '#exchange/session.ts'
import { cookieValues, removeCookie } from '../../shared/authentication/cookies.ts'
import { receivedValues } from '../../shared/fields/received-field.ts'
import { cookiePath } from './cookie-path.ts'

export interface SessionPlan {
  /** Key of the route rule: a session of another rule does not count. */
  readonly rule: string
  /** Name of the cookie or header. */
  readonly name: string
  readonly isCookie: boolean
  readonly isPermanent: boolean
  /** Infinity: no limit. */
  readonly absoluteMs: number
  readonly idleMs: number
  readonly sealer: Sealer
}

/** What the gateway seals: clients can neither read it nor choose an endpoint. */
interface Token {
  readonly k: 'route-session'
  readonly rule: string
  readonly backend: string
  readonly endpoint: string
  /** Start and last request, milliseconds since the epoch. */
  readonly start: number
  readonly last: number
}

/**
 * Reads the session of a request and removes it. Other values of that name are not ours and are forwarded. Without a valid session, the first
 * response starts one.
 */
export function readSession(plan: SessionPlan, exchange: Exchange): Outcome {
  const now = exchange.context.now()
  let bound: EndpointName | undefined
  let startMs = now
  let foreign = false
  let ended = false
  for (const value of valuesIn(plan, exchange)) {
    const token = openJson<Token>(plan.sealer, 'route-session', value)
    if (token === undefined) {
      foreign = true
      continue
    }
    remove(plan, exchange, value)
    if (bound !== undefined) continue
    if (!isValid(plan, token, now)) {
      ended = true
      continue
    }
    bound = { backend: token.backend, endpoint: token.endpoint }
    startMs = token.start
  }
  exchange.session = { bound, startMs, used: undefined }
  exchange.trace?.note(
    bound === undefined
      ? `${whyUnbound(plan, foreign, ended)}; its response starts one`
      : `the session leads to ${bound.endpoint} of ${backendName(bound.backend)}`,
  )
  return proceed
}

/** For `explain`, which usually has another key than the gateway. */
function whyUnbound({ name, isCookie }: SessionPlan, foreign: boolean, ended: boolean): string {
  if (ended) return 'the session of the request has ended or belongs to another rule'
  if (!foreign) return 'the request has no session'
  const place = `${isCookie ? 'cookie' : 'header'} ${name}`
  return `the value of ${place} cannot be read as a session with the key of this command (set SESSION_KEY to that of the gateway)`
}

function valuesIn({ name, isCookie }: SessionPlan, { request }: Exchange): readonly string[] {
  return isCookie ? cookieValues(receivedValues(request, 'cookie'), name) : receivedValues(request, name.toLowerCase())
}

function remove({ name, isCookie }: SessionPlan, { request }: Exchange, value: string): void {
  if (isCookie) removeCookie(request, name, value)
  else request.remove(name.toLowerCase())
}

function isValid({ rule, absoluteMs, idleMs }: SessionPlan, token: Token, now: number): boolean {
  return token.rule === rule && now - token.start < absoluteMs && now - token.last < idleMs
}

/** Tells the client its session: if it is new, if its endpoint has changed, and if an idle timeout counts from this request. */
export function nameSession(plan: SessionPlan, exchange: Exchange): Outcome {
  const { session, response } = exchange
  const used = session?.used
  if (session === undefined || used === undefined || response === undefined || exchange.responseIsRefusal)
    return proceed
  const now = exchange.context.now()
  const isSame = used.backend === session.bound?.backend && used.endpoint === session.bound.endpoint
  if (isSame && plan.idleMs === Number.POSITIVE_INFINITY) return proceed
  const start = isSame ? session.startMs : now
  const token: Token = { k: 'route-session', rule: plan.rule, ...used, start, last: now }
  const value = sealJson(plan.sealer, token)
  if (plan.isCookie) response.append('set-cookie', cookieOf(plan, exchange, value, start))
  else response.set(plan.name.toLowerCase(), value)
  return proceed
}

function cookieOf(plan: SessionPlan, exchange: Exchange, value: string, startMs: number): string {
  const attributes = [`${plan.name}=${value}`, `Path=${cookiePath(exchange.matchedPath)}`]
  if (plan.isPermanent) {
    const endMs = startMs + plan.absoluteMs
    const seconds = Math.ceil((endMs - exchange.context.now()) / 1000)
    attributes.push(`Max-Age=${seconds}`, `Expires=${new Date(endMs).toUTCString()}`)
  }
  attributes.push('HttpOnly', 'SameSite=Strict')
  if (exchange.scheme === 'https') attributes.push('Secure')
  return attributes.join('; ')
}
