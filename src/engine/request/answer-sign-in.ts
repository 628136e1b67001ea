import type { Exchange } from '#exchange/exchange.ts'
import type { Outcome } from '#exchange/outcome.ts'
import type { TraceStep } from '#exchange/trace.ts'
import { hostOf } from '#net/http/authority-form.ts'
import { matchedPath } from '#net/http/path-form.ts'
import { type SignInEndpoint, signInEndpoint } from '#policies/shared/sign-in/endpoint.ts'
import type { SignIn } from '#policies/shared/sign-in/sign-in.ts'
import type { PlanIndex } from '../lookups/plan-index.ts'
import type { LiveRequestListener, LiveRule } from '../route/live-listener.ts'
import type { RequestPath } from '../route/request-path.ts'

// The endpoints at which MCP clients learn how to sign in belong to no route: the listener serves them for every path with a policy that
// asks for it, ahead of the policies (specification 1, 4.2; decision B72).

const DOT = 0x2e

type Answered = Outcome | Promise<Outcome>

/** The part of a decision that is read and written here. */
interface Routed {
  readonly path: RequestPath
  rule: LiveRule | undefined
}

/** For a policy before routing, which applies to every path. @returns undefined: the request is for no endpoint */
export function answerSignIn(
  signIn: SignIn,
  listener: LiveRequestListener,
  exchange: Exchange,
  decision: Routed,
): Answered {
  const endpoint = endpointOf(exchange, decision)
  if (endpoint === undefined) return undefined
  const host = hostOf(exchange.originalAuthority)
  return hasOwnRoute(listener, host, exchange, decision) ? undefined : answer(signIn, endpoint, exchange, 'pre-routing')
}

/** For the policies of rules. @param host of the request, for routing */
export function answerSignInOfRule(
  index: PlanIndex,
  listener: LiveRequestListener,
  host: string,
  exchange: Exchange,
  decision: Routed,
): Answered {
  const endpoint = endpointOf(exchange, decision)
  if (endpoint === undefined || hasOwnRoute(listener, host, exchange, decision)) return undefined
  const found = findSignIn(index, listener, host, endpoint.path)
  if (found === undefined) return undefined
  const { rule, signIn, path } = found
  decision.rule = rule
  exchange.names = rule.names
  const asked = endpoint.kind === 'resource' ? { ...endpoint, path } : endpoint
  return answer(signIn, asked, exchange, 'post-routing')
}

function answer(signIn: SignIn, endpoint: SignInEndpoint, exchange: Exchange, stage: TraceStep['stage']): Answered {
  exchange.trace?.step({
    stage,
    name: 'jwtAuthentication.mcp',
    verdict: 'answer',
    detail: `the endpoint ${endpoint.kind} for the resource ${endpoint.path || '/'}, before all other policies`,
    origins: [],
  })
  return signIn.answer(endpoint, exchange)
}

/** An ambiguous path is none: servers may read another one. */
function endpointOf({ request }: Exchange, { path }: Routed): SignInEndpoint | undefined {
  if (path.matched.charCodeAt(1) !== DOT || path.ambiguous) return undefined
  return signInEndpoint(request.target.split('?')[0]!)
}

/** Whether a route is for these addresses and for nothing above them. */
function hasOwnRoute({ routes }: LiveRequestListener, host: string, { request }: Exchange, { path }: Routed): boolean {
  const hit = routes.find(host, request, path)
  return hit !== undefined && hit.match.path.type !== 'RegularExpression' && isOwn(hit.match.path.value)
}

function isOwn(path: string): boolean {
  return signInEndpoint(path) !== undefined
}

interface Found {
  readonly rule: LiveRule
  readonly signIn: SignIn
  /** Of the resource. */
  readonly path: string
}

function findSignIn(index: PlanIndex, { routes }: LiveRequestListener, host: string, path: string): Found | undefined {
  for (const rule of routes.takersOf(host, matchedPath(path || '/'))) {
    const signIn = signInOf(rule, index)
    if (signIn !== undefined) return { rule, signIn, path }
  }
  return path === '' ? findOnly(index, routes, host) : undefined
}

/** Clients that know no path of the resource ask without one: the answer is clear if the host has only one such path. */
function findOnly(index: PlanIndex, routes: LiveRequestListener['routes'], host: string): Found | undefined {
  const all = routes.rulesFor(host)
  if (all.length > MAX_RULES) return undefined
  let only: Found | undefined
  for (const { rule, match } of all) {
    const signIn = signInOf(rule, index)
    if (signIn === undefined) continue
    if (match.path.type === 'RegularExpression') return undefined
    const path = match.path.value.replace(/\/$/, '')
    if (only !== undefined && only.path !== path) return undefined
    only ??= { rule, signIn, path }
  }
  return only
}

/** Looking at a rule compiles its policies. */
const MAX_RULES = 256

function signInOf(rule: LiveRule, index: PlanIndex): SignIn | undefined {
  const { signIn } = rule.postRouting.get(index)
  if (signIn !== undefined) return signIn
  for (const { backend } of rule.backends) {
    const ofBackend = backend.get(index)?.protocol.signIn
    if (ofBackend !== undefined) return ofBackend
  }
  return undefined
}
