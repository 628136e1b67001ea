import type { BodyUse } from '#exchange/body-use.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { joinLlmReads, type LlmReads } from '#exchange/llm-reads.ts'
import { type Outcome, type Refusal, reject } from '#exchange/outcome.ts'
import { foldName } from '#net/http/head.ts'
import type { RouteMatch } from '#plan/item.ts'
import type { ProtocolAttempt, SelectFilter } from '#protocols/backend-protocol.ts'
import type { LiveBackend, LiveEndpoint } from '../backend/live-backend.ts'
import type { FrontendSettings } from '../merge/frontend-settings.ts'
import type { PlanIndex } from '../plan/plan-index.ts'
import {
  chooseBackend,
  HostReader,
  type LiveListener,
  type LiveRequestListener,
  type LiveRule,
  type LiveSocket,
} from '../route/live-listener.ts'
import { RequestPath } from '../route/request-path.ts'
import type { NearMiss } from '../route/route-table.ts'
import { refuseOtherMeaning, refuseOtherRule, refuseReader } from './ambiguous-path.ts'
import { type Chain, type Progress, runChain, runResponses } from './chain.ts'
import { checkConnection, checkNominated, checkRouted } from './check-connection.ts'
import { readerOfField, readerOfPath } from './readers.ts'

const NO_MISSES: readonly NearMiss[] = Object.freeze([])

/** How far one request came. What was reached decides which response policies run. */
export class Decision implements ProtocolAttempt {
  readonly host: HostReader = new HostReader()
  readonly path: RequestPath = new RequestPath()
  listener: LiveRequestListener | undefined
  /** What policies say about the listener. */
  frontend: FrontendSettings | undefined
  rule: LiveRule | undefined
  /** Which of the rule's matches it was. */
  match: RouteMatch | undefined
  /** Rules of the host that do not take the request; only when a trace is kept. */
  nearMisses: readonly NearMiss[] = NO_MISSES
  backend: LiveBackend | undefined
  preRouting: Chain | undefined
  postRouting: Chain | undefined
  readonly preProgress: Progress = { reached: -1 }
  readonly postProgress: Progress = { reached: -1 }
  /** Of the last attempt. */
  endpoint: LiveEndpoint | undefined
  readonly backendProgress: Progress = { reached: -1 }
  /** How the protocol of the backend reads the answer. */
  selectFilter: SelectFilter | undefined

  get maxBufferBytes(): number {
    return this.frontend!.maxBufferBytes
  }

  /** What is read of an LLM call by whatever runs or looks at it afterwards. */
  llmReads({ tokenLimits }: Exchange): LlmReads {
    const { preRouting, postRouting, endpoint, frontend } = this
    const all = [frontend!.llmReads]
    // Response policies see what the model wrote only where they wait for the body.
    if (readsResponseBody(this) !== false) {
      for (const chain of [preRouting, postRouting, endpoint?.chain]) if (chain !== undefined) all.push(chain.llmReads)
    }
    const reads = joinLlmReads(all)
    return tokenLimits === undefined ? reads : { ...reads, tokens: true }
  }
}

/** What the engine needs besides the plan. */
export interface DecideInputs {
  readonly index: PlanIndex
  readonly socket: LiveSocket
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
}

/**
 * The way of a request until its backend is known: listener, path, pre-routing policies, host under TLS, route, post-routing policies, backend.
 * @returns undefined when it is to be forwarded to `decision.backend`; else why not, or what to answer. Synchronous unless a policy
 * has to wait.
 */
export function decide(inputs: DecideInputs, exchange: Exchange, decision: Decision): Outcome | Promise<Outcome> {
  const listener = inputs.socket.hosts.first(nameOfListener(exchange, decision), (listener) => listener)
  if (listener === undefined) return decision.path.read(exchange) ?? reject('listener-not-found')
  const frontend = listener.frontend.get(inputs.index)
  decision.listener = listener
  decision.frontend = frontend
  exchange.names = listener.names
  const unfit = decision.path.read(exchange) ?? checkConnection(exchange.request)
  if (unfit !== undefined) return unfit

  const chain = listener.preRouting.get(inputs.index)
  if (decision.path.ambiguous) {
    const refused = refuseReader(decision.path, undefined, readerOfPath(chain.readers))
    if (refused !== undefined) return refused
  }
  decision.preRouting = chain
  const outcome = runPhase(chain, exchange, decision.preProgress, frontend.maxBufferBytes)
  if (outcome instanceof Promise) return outcome.then((late) => late ?? route(inputs, listener, exchange, decision))
  return outcome ?? route(inputs, listener, exchange, decision)
}

/** Under TLS the handshake has chosen the listener. */
function nameOfListener({ peer, originalAuthority }: Exchange, { host }: Decision): string {
  return peer.secure ? (peer.serverName ?? '') : host.of(originalAuthority)
}

/**
 * A request for another host than the one that its TLS connection was made for may not pass as if it had asked there: certificates,
 * client validation and policies are those of a listener (RFC 9110, 7.4).
 */
function misdirection(
  { socket }: DecideInputs,
  listener: LiveListener,
  exchange: Exchange,
  { host }: Decision,
): Outcome {
  if (!exchange.peer.secure) return undefined
  const best = socket.serverNames.first<LiveListener>(host.of(exchange.originalAuthority), (listener) => listener)
  if (best === listener) return undefined
  return best === undefined ? reject('route-not-found') : reject('misdirected')
}

function route(
  inputs: DecideInputs,
  listener: LiveRequestListener,
  exchange: Exchange,
  decision: Decision,
): Outcome | Promise<Outcome> {
  const astray = misdirection(inputs, listener, exchange, decision)
  if (astray !== undefined) return astray
  const { path } = decision
  const unfit = path.read(exchange)
  if (unfit !== undefined) return unfit
  const host = decision.host.of(exchange.request.authorityLike(exchange.originalAuthority))
  const taken = checkRouted(exchange.request, listener.routes, host)
  if (taken !== undefined) return taken
  if (exchange.trace !== undefined) decision.nearMisses = listener.routes.nearMisses(host, exchange.request, path)
  const hit = listener.routes.find(host, exchange.request, path)
  if (hit === undefined) return reject('route-not-found')
  const rule = hit.rule
  decision.rule = rule
  decision.match = hit.match
  exchange.names = rule.names
  exchange.matchedPrefix = hit.match.path.type === 'PathPrefix' ? hit.match.path.value : undefined

  const chain = rule.postRouting.get(inputs.index)
  if (path.ambiguous) {
    const refused =
      refuseOtherRule(path, hit, host, listener, exchange) ?? refuseReader(path, hit.match, readerOfPath(chain.readers))
    if (refused !== undefined) return refused
  }
  decision.postRouting = chain
  const outcome = runPhase(chain, exchange, decision.postProgress, decision.frontend!.maxBufferBytes)
  if (outcome instanceof Promise) return outcome.then((late) => late ?? toBackend(inputs, rule, exchange, decision))
  return outcome ?? toBackend(inputs, rule, exchange, decision)
}

function toBackend(inputs: DecideInputs, rule: LiveRule, exchange: Exchange, decision: Decision): Outcome {
  const { path, match } = decision
  const unfit = path.read(exchange)
  if (unfit !== undefined) return unfit
  const chosen = chooseBackend(rule, inputs.random)
  if (chosen === undefined) return reject('no-valid-backends')
  const backend = chosen.backend.get(inputs.index)
  if (backend === undefined) return reject('backend-missing', { detail: chosen.reference.path })
  decision.backend = backend
  exchange.names = backend.names
  const taken = backend.refusal ?? checkNominated(exchange.request, backend)
  if (taken !== undefined || !path.ambiguous) return taken
  const refused = refuseReader(path, match, readerOfPath(backend.readers))
  return refused ?? refuseOtherMeaning(path, match, backend.protocol, exchange)
}

/**
 * A refusal as clients of the route understand it, in the form of the backend's protocol, also where a policy refused before the
 * backend was chosen. Configured bodies stay as they are.
 */
export function refuseForClient(refusal: Refusal, index: PlanIndex, exchange: Exchange, decision: Decision): Refusal {
  const backend = decision.backend ?? decision.rule?.backends[0]?.backend.get(index)
  if (backend?.protocol.refuse === undefined || refusal.body !== undefined) return refusal
  return backend.protocol.refuse(exchange, refusal)
}

/**
 * Response steps of every chain that the request reached (docs/behaviour/http.md, "The way back").
 * @returns what replaces the response
 */
export function runResponsePolicies(exchange: Exchange, decision: Decision): Outcome {
  const { postRouting, preRouting, endpoint } = decision
  let replaced = responsesOf(postRouting, exchange, decision.postProgress)
  replaced = responsesOf(endpoint?.chain, exchange, decision.backendProgress) ?? replaced
  return responsesOf(preRouting, exchange, decision.preProgress) ?? replaced
}

function responsesOf(chain: Chain | undefined, exchange: Exchange, { reached }: Progress): Outcome {
  return chain === undefined || chain.responses.length === 0 ? undefined : runResponses(chain, exchange, reached)
}

/**
 * Whether the match of the route, or a policy in force, has to do with a field of a request, or a policy sets or removes one of a
 * response: it may then not come by another way, behind the body or before the response (docs/behaviour/http.md, "Trailers and interim
 * responses").
 */
export function isHeadField(
  message: 'request' | 'response',
  name: string,
  { match, preRouting, postRouting, endpoint, backend }: Decision,
): boolean {
  const foldedName = foldName(name)
  const has = (chain: Chain | undefined) => chain?.fields[message].has(foldedName) === true
  if (has(preRouting) || has(postRouting) || has(endpoint?.chain)) return true
  if (message === 'response') return false
  const reads = (place: Chain | LiveBackend | undefined) =>
    place !== undefined && readerOfField(place.readers, foldedName) !== undefined
  const routes = match?.headers.some((header) => foldName(header.name) === foldedName) ?? false
  return routes || reads(preRouting) || reads(postRouting) || reads(backend)
}

/** What of the body response policies wait for. */
export function readsResponseBody({ postRouting, preRouting, endpoint }: Decision): BodyUse {
  const post = postRouting?.readsResponseBody ?? false
  const pre = preRouting?.readsResponseBody ?? false
  const backend = endpoint?.chain.readsResponseBody ?? false
  return post === true || pre === true || backend === true || post || pre || backend
}

/**
 * Runs a chain, after gathering what one of its policies reads of the body (specification 2, 2.1). A body that is larger than the
 * limit is refused where all of it is read (decision A-49).
 */
function runPhase(chain: Chain, exchange: Exchange, progress: Progress, maxBytes: number): Outcome | Promise<Outcome> {
  const taken = checkNominated(exchange.request, chain)
  if (taken !== undefined) return taken
  const { readsRequestBody: use } = chain
  if (use === false) return runChain(chain, exchange, progress)
  if (exchange.requestBody !== undefined) return runWithBody(chain, exchange, progress)
  return exchange.bodies
    .readRequestBody(exchange, maxBytes, use)
    .then((unread) => unread ?? runWithBody(chain, exchange, progress))
}

function runWithBody(chain: Chain, exchange: Exchange, progress: Progress): Outcome | Promise<Outcome> {
  if (exchange.requestBody === null && chain.readsRequestBody === true) return reject('body-too-large')
  return runChain(chain, exchange, progress)
}
