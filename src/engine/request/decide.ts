import type { BodyUse } from '#exchange/body-use.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { joinLlmReads, type LlmReads } from '#exchange/llm-reads.ts'
import { type Outcome, type Refusal, reject } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import { RequestCalls } from '#exchange/request-calls.ts'
import { sampleTrace } from '#exchange/sample-trace.ts'
import { hostOf } from '#net/http/authority-form.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import { foldName } from '#net/http/same-name.ts'
import type { RouteMatch } from '#plan/item.ts'
import type { ProtocolAttempt, SelectFilter } from '#protocols/backend-protocol.ts'
import type { LiveBackend, LiveEndpoint } from '../backend/live-backend.ts'
import type { Place } from '../backend/place.ts'
import type { PlanIndex } from '../lookups/plan-index.ts'
import { type Chain, Progress, runChain, runProcessors, runResponses } from '../merge/chain.ts'
import type { FrontendSettings } from '../merge/frontend-settings.ts'
import { isReadInHead, readerOfPath } from '../merge/readers.ts'
import { isForwardedField, setForwardedHeaders } from '../route/forwarded-headers.ts'
import {
  type LiveListener,
  type LiveRequestListener,
  type LiveRule,
  type LiveSocket,
  refusalOf,
} from '../route/live-listener.ts'
import { RequestPath } from '../route/request-path.ts'
import type { NearMiss, RouteHit } from '../route/route-table.ts'
import { chooseReference, type UnfitEndpoint } from '../route/session-endpoint.ts'
import { refuseIfRead, refuseOtherMeaning, refuseOtherRule } from './ambiguous-path.ts'
import { answerChallenge } from './answer-challenge.ts'
import { answerSignIn, answerSignInOfRule } from './answer-sign-in.ts'
import { askRules } from './ask-rules.ts'
import { checkConnection, checkMatchedFields, checkNominated } from './check-connection.ts'
import { findRule } from './find-rule.ts'

const NO_MISSES: readonly NearMiss[] = Object.freeze([])
const NONE_UNFIT: readonly UnfitEndpoint[] = Object.freeze([])

/** The progress of one request. It determines which response policies run. */
export class Decision implements ProtocolAttempt {
  readonly path: RequestPath = new RequestPath()
  listener: LiveRequestListener | undefined
  /** Frontend settings of the listener. */
  frontend: FrontendSettings | undefined
  rule: LiveRule | undefined
  /** The match of the rule that selected it. */
  match: RouteMatch | undefined
  /** Rules for the host that do not match the request; collected only for a trace. */
  nearMisses: readonly NearMiss[] = NO_MISSES
  backend: LiveBackend | undefined
  preRouting: Chain | undefined
  postRouting: Chain | undefined
  readonly preProgress: Progress = new Progress()
  readonly postProgress: Progress = new Progress()
  /** The endpoint of the last attempt. */
  endpoint: LiveEndpoint | undefined
  /** Where the last attempt connects to; undefined until the request names it. */
  place: Place | undefined
  readonly backendProgress: Progress = new Progress()
  /** Endpoints that cannot take the request, in the order of their attempts. */
  unfit: readonly UnfitEndpoint[] = NONE_UNFIT
  /** Selects the response filter of the backend's protocol. */
  selectFilter: SelectFilter | undefined
  selectTunnelFilter: ProtocolAttempt['selectTunnelFilter']
  settle: ProtocolAttempt['settle']

  get maxBufferBytes(): number {
    return this.frontend!.maxBufferBytes
  }

  askRules(exchange: Exchange, method: string, target: string): ((body: Uint8Array) => boolean) | undefined {
    return askRules([this.preRouting, this.postRouting], exchange, method, target)
  }

  /** Data of the LLM call that later steps, log or metrics read. */
  llmReads({ tokenLimits }: Exchange): LlmReads {
    const { preRouting, postRouting, endpoint, frontend } = this
    const all = [frontend!.llmReads]
    // Response policies see the output of the model only if they buffer the body.
    if (readsResponseBody(this) !== false) {
      for (const chain of [preRouting, postRouting, endpoint?.chain]) if (chain !== undefined) all.push(chain.llmReads)
    }
    const reads = joinLlmReads(all)
    return tokenLimits === undefined ? reads : { ...reads, tokens: true }
  }
}

/** Inputs of a decision in addition to the exchange. */
export interface DecideInputs {
  readonly index: PlanIndex
  readonly socket: LiveSocket
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
}

/**
 * Handles a request until its backend is known: listener, path, pre-routing policies, host under TLS, route, post-routing policies,
 * backend.
 * @returns undefined if the request is to be forwarded to `decision.backend`, else a refusal or an answer. Synchronous unless a policy is
 * asynchronous.
 */
export function decide(inputs: DecideInputs, exchange: Exchange, decision: Decision): Outcome | Promise<Outcome> {
  const listener = inputs.socket.hosts.first(nameOfListener(exchange), (listener) => listener)
  if (listener === undefined) return decision.path.read(exchange) ?? reject('listener-not-found')
  const frontend = listener.frontend.get(inputs.index)
  decision.listener = listener
  decision.frontend = frontend
  exchange.names = listener.names
  if (frontend.tracing !== undefined) sampleTrace(frontend.tracing, exchange)
  if (frontend.metricLabels.names.length > 0) exchange.calls = new RequestCalls()
  const refusal =
    decision.path.read(exchange) ?? checkConnection(exchange.request) ?? checkGrpc(exchange) ?? refusalOf(listener)
  if (refusal !== undefined) return refusal
  const challenge = answerChallenge(listener.item, exchange)
  if (challenge !== undefined) return challenge
  if (listener.forwardedHeaders !== undefined) setForwardedHeaders(listener.forwardedHeaders, exchange)

  const chain = listener.preRouting.get(inputs.index)
  redactCredentials(chain, exchange)
  if (decision.path.ambiguous) {
    const refused = refuseIfRead(decision.path, undefined, readerOfPath(chain.readers))
    if (refused !== undefined) return refused
  }
  const answered = chain.signIn && answerSignIn(chain.signIn, listener, exchange, decision)
  if (answered !== undefined) return answered
  decision.preRouting = chain
  const outcome = runPhase(chain, exchange, decision.preProgress, frontend.maxBufferBytes)
  if (outcome instanceof Promise) return outcome.then((late) => late ?? route(inputs, listener, exchange, decision))
  return outcome ?? route(inputs, listener, exchange, decision)
}

/** Clients of HTTP/1 get no trailers, so they would never get the status of a call. */
function checkGrpc({ version, request }: Exchange): Refusal | undefined {
  if (version === '2' || request.method !== 'POST' || !isGrpcRequest(request)) return undefined
  return reject('grpc-needs-http2')
}

/** With TLS, the handshake has selected the listener by server name. */
function nameOfListener({ peer, originalAuthority }: Exchange): string {
  return peer.secure ? (peer.serverName ?? '') : hostOf(originalAuthority)
}

/**
 * Refuses a request for a host that belongs to another listener than its TLS connection: certificates, client validation and policies are
 * those of a listener (RFC 9110, 7.4).
 */
function checkMisdirected({ socket }: DecideInputs, listener: LiveListener, exchange: Exchange): Outcome {
  if (!exchange.peer.secure) return undefined
  const best = socket.serverNames.first<LiveListener>(hostOf(exchange.originalAuthority), (listener) => listener)
  if (best === listener) return undefined
  return best === undefined ? reject('route-not-found') : reject('misdirected')
}

function route(
  inputs: DecideInputs,
  listener: LiveRequestListener,
  exchange: Exchange,
  decision: Decision,
): Outcome | Promise<Outcome> {
  const misdirected = checkMisdirected(inputs, listener, exchange)
  if (misdirected !== undefined) return misdirected
  const { path } = decision
  const refusal = path.read(exchange)
  if (refusal !== undefined) return refusal
  const { request, originalAuthority } = exchange
  const host = hostOf(request.keepsReceivedHost ? originalAuthority : request.authority)
  const nominated = checkMatchedFields(exchange.request, listener.routes, host)
  if (nominated !== undefined) return nominated
  const answered = answerSignInOfRule(inputs.index, listener, host, exchange, decision)
  if (answered !== undefined) return answered
  const hit = findRule(inputs.index, listener, host, exchange.request, path)
  if (exchange.trace !== undefined) decision.nearMisses = listener.routes.nearMisses(host, exchange.request, path, hit)
  if (hit === undefined) return reject('route-not-found')
  const rule = hit.rule
  decision.rule = rule
  decision.match = hit.match
  exchange.names = rule.names
  exchange.matchedPath = hit.match.path

  const chain = rule.postRouting.get(inputs.index)
  redactCredentials(chain, exchange)
  if (path.ambiguous) {
    const refused =
      refuseOtherRule(path, hit, (read) => findRule(inputs.index, listener, host, exchange.request, read)) ??
      refuseIfRead(path, hit.match, readerOfPath(chain.readers))
    if (refused !== undefined) return refused
  }
  decision.postRouting = chain
  const outcome = runPhase(chain, exchange, decision.postProgress, decision.frontend!.maxBufferBytes)
  if (outcome instanceof Promise) return outcome.then((late) => late ?? selectBackend(inputs, hit, exchange, decision))
  return outcome ?? selectBackend(inputs, hit, exchange, decision)
}

function selectBackend(
  inputs: DecideInputs,
  { rule, isAnnounced }: RouteHit<LiveRule>,
  exchange: Exchange,
  decision: Decision,
): Outcome | Promise<Outcome> {
  if (isAnnounced === true) return reject('route-not-found')
  const refusal = decision.path.read(exchange)
  if (refusal !== undefined) return refusal
  const chosen = chooseReference(rule, exchange.session, inputs.index, inputs.random)
  if (chosen === undefined) return reject('no-valid-backends', { detail: rule.item.broken })
  const backend = chosen.backend.get(inputs.index)
  if (backend === undefined) return reject('backend-missing', { detail: chosen.reference.path })
  decision.backend = backend
  exchange.names = backend.names
  const refused =
    backend.refusal ?? checkNominated(exchange.request, backend) ?? refuseAmbiguous(backend, exchange, decision)
  if (refused !== undefined) return refused
  backend.chooseMirrors?.(exchange)
  return backend.protocol.authenticate?.(exchange)
}

function refuseAmbiguous({ readers, protocol }: LiveBackend, exchange: Exchange, { path, match }: Decision): Outcome {
  if (!path.ambiguous) return undefined
  return refuseIfRead(path, match, readerOfPath(readers)) ?? refuseOtherMeaning(path, match, protocol, exchange)
}

/**
 * Converts a refusal to the form of the backend's protocol, also if a policy refused before the backend was chosen. Configured bodies are
 * kept.
 */
export function refuseForClient(refusal: Refusal, index: PlanIndex, exchange: Exchange, decision: Decision): Refusal {
  const protocol = backendOfRefused(index, decision)?.protocol
  if (protocol?.refuse === undefined || isConfigured(refusal)) return refusal
  return protocol.refuse(exchange, refusal)
}

/** Log and metrics show a refused request with its protocol, also if a policy refused it before the backend was chosen. */
export function noteRefused(index: PlanIndex, exchange: Exchange, decision: Decision): void {
  const { backend, rule, endpoint } = decision
  if (backend === undefined && rule !== undefined) exchange.names = rule.undecidedNames.get(index)
  backendOfRefused(index, decision)?.protocol.noteRefused?.(exchange, endpoint)
}

/** Before the choice, that of the first reference: refusals have the form of its protocol. */
function backendOfRefused(index: PlanIndex, { backend, rule }: Decision): LiveBackend | undefined {
  return backend ?? rule?.backends[0]?.backend.get(index)
}

/** A policy, or the server that it asks, has chosen the body. */
function isConfigured({ body, bytes }: Refusal): boolean {
  return body !== undefined || bytes !== undefined
}

/**
 * Runs the response steps of every chain that the request reached (docs/behaviour/http.md, "Response policies").
 * @returns the replacement of the response, if any; a refusal is never replaced
 */
export function runResponsePolicies(exchange: Exchange, decision: Decision): Outcome {
  const { postRouting, preRouting, endpoint } = decision
  let replaced = responsesOf(postRouting, exchange, decision.postProgress)
  replaced = responsesOf(endpoint?.chain, exchange, decision.backendProgress) ?? replaced
  replaced = responsesOf(preRouting, exchange, decision.preProgress) ?? replaced
  return exchange.responseIsRefusal ? undefined : replaced
}

function responsesOf(chain: Chain | undefined, exchange: Exchange, { reached }: Progress): Outcome {
  return chain === undefined || chain.responses.length === 0 ? undefined : runResponses(chain, exchange, reached)
}

/** Whether policies process the response of a backend together with its body. */
export function processesResponse({ postRouting, preRouting }: Decision): boolean {
  return hasProcessors(postRouting) || hasProcessors(preRouting)
}

function hasProcessors(chain: Chain | undefined): boolean {
  return chain !== undefined && chain.processors.length > 0
}

/**
 * Runs these policies, after `runResponsePolicies`: those after routing, then those before it.
 * @returns the replacement of the response, if any
 */
export function processResponse(exchange: Exchange, decision: Decision): Outcome | Promise<Outcome> {
  const { postRouting, preRouting, postProgress, preProgress } = decision
  const before = () => (preRouting === undefined ? undefined : runProcessors(preRouting, exchange, preProgress.reached))
  const outcome = postRouting === undefined ? undefined : runProcessors(postRouting, exchange, postProgress.reached)
  return outcome instanceof Promise ? outcome.then((late) => late ?? before()) : (outcome ?? before())
}

/**
 * Whether a field must be in the head: the match of the route or a policy in force reads it from a request, or a policy sets or removes it.
 * Such a field is not accepted in trailers or interim responses (docs/behaviour/http.md, "Trailers and interim responses").
 */
export function isHeadField(
  message: 'request' | 'response',
  name: string,
  { listener, match, preRouting, postRouting, endpoint, backend }: Decision,
): boolean {
  const foldedName = foldName(name)
  const has = (chain: Chain | undefined) => chain?.fields[message].has(foldedName) === true
  if (has(preRouting) || has(postRouting) || has(endpoint?.chain)) return true
  if (message === 'response') return false
  if (listener?.forwardedHeaders !== undefined && isForwardedField(foldedName)) return true
  const reads = (source: Chain | LiveBackend | undefined) =>
    source !== undefined && isReadInHead(source.readers, foldedName)
  const routes = match?.headers.some((header) => foldName(header.name) === foldedName) ?? false
  return routes || reads(preRouting) || reads(postRouting) || reads(backend)
}

/** How much of the response body the response policies read. */
export function readsResponseBody({ postRouting, preRouting, endpoint }: Decision): BodyUse {
  const post = postRouting?.readsResponseBody ?? false
  const pre = preRouting?.readsResponseBody ?? false
  const backend = endpoint?.chain.readsResponseBody ?? false
  return post === true || pre === true || backend === true || post || pre || backend
}

/** Before anything can refuse the request: its target is logged in any case. */
function redactCredentials({ credentialParameters }: Chain, exchange: Exchange): void {
  for (const name of credentialParameters) exchange.redactQueryParameter(name)
}

/**
 * Buffers the body as far as the policies of the chain read it, then runs the chain (specification 2, 2.1). Refuses a body above the limit
 * if a policy needs all of it (decision A-49).
 */
function runPhase(chain: Chain, exchange: Exchange, progress: Progress, maxBytes: number): Outcome | Promise<Outcome> {
  const nominated = checkNominated(exchange.request, chain)
  if (nominated !== undefined) return nominated
  const { readsRequestBody: use } = chain
  if (use === false) return runChain(chain, exchange, progress)
  if (exchange.requestBody.kind !== 'unread') return runWithBody(chain, exchange, progress, maxBytes)
  return exchange.bodies.request
    .read(maxBytes, use)
    .then((unread) => unread ?? runWithBody(chain, exchange, progress, maxBytes))
}

function runWithBody(
  chain: Chain,
  exchange: Exchange,
  progress: Progress,
  maxBytes: number,
): Outcome | Promise<Outcome> {
  if (exchange.requestBody.kind === 'large' && chain.readsRequestBody === true) {
    return refuseLargeBody('body-too-large', maxBytes)
  }
  return runChain(chain, exchange, progress)
}
