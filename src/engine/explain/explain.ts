import type { PolicySection } from '#api/policy-fields.ts'
import { clock } from '#base/clock.ts'
import { backendName } from '#exchange/backend-name.ts'
import { type Call, CallError } from '#exchange/call.ts'
import { consumerOf } from '#exchange/consumer.ts'
import type { Callout, Exchange } from '#exchange/exchange.ts'
import { wholeBody } from '#exchange/known-body.ts'
import type { Answer, Outcome, Refusal } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import { NO_CLIENT, type RunContext } from '#exchange/run-context.ts'
import type { Trace, TracedCallout, TracedLimit, TraceStep, WrittenCredential } from '#exchange/trace.ts'
import type { Destination } from '#net/destination.ts'
import { matchedPath } from '#net/http/path-form.ts'
import { announcedLength, isGrpcRequest } from '#net/http/request-rules.ts'
import { BODY_LENGTH, BODY_NONE } from '#net/stream.ts'
import type { ListenerItem, Phase, RouteItem, RouteMatch } from '#plan/item.ts'
import { isLoopbackAddress } from '#protocols/address.ts'
import type { ProtocolExplanation } from '#protocols/backend-protocol.ts'
import { backendTargets } from '../backend/backend-targets.ts'
import { chooseDestination } from '../backend/destinations.ts'
import { type Lookups, RecordedLookups } from '../lookups/lookups.ts'
import type { LivePlan } from '../plan/live-plan.ts'
import { Decision, decide, refuseForClient, runResponsePolicies } from '../request/decide.ts'
import { type LiveSocket, listenerTargets, ruleTargets } from '../route/live-listener.ts'
import type { NearMiss } from '../route/route-table.ts'
import { chooseForAttempt } from '../route/session-endpoint.ts'
import {
  attemptPrepared,
  beginAttempt,
  beginScript,
  bodyCollected,
  bodyDecoded,
  type ScriptDriver,
  type ScriptedRequest,
} from '../script/attempt.ts'
import {
  type EffectivePolicy,
  type ExplainedBackend,
  type ExplainedEndpoint,
  explainBackends,
  explainEndpoints,
  policiesInForce,
} from './explain-parts.ts'

/** What the engine would do with one request, and because of which objects. */
export interface Explanation {
  /** As received, and as routes and expressions see it (decision A-51). */
  readonly path: { readonly received: string; readonly matched: string }
  readonly listener: ListenerItem | undefined
  readonly route: { readonly item: RouteItem; readonly match: RouteMatch } | undefined
  readonly nearMisses: readonly NearMiss[]
  /** If no route is for the host: hostnames of the listener's routes. */
  readonly otherHostnames: readonly string[]
  readonly policies: readonly EffectivePolicy[]
  readonly steps: readonly TraceStep[]
  /** The client that a policy has identified. */
  readonly consumer: string | undefined
  /** Local rate limits that the request takes from. */
  readonly limits: readonly TracedLimit[]
  /** Servers that policies ask. Without calls, the rest assumes that they allow the request. */
  readonly callouts: readonly ExplainedCallout[]
  /** Where the gateway read credentials that it did not remove, or wrote some into the upstream request. */
  readonly credentials: readonly WrittenCredential[]
  /** Backend references of the rule with their weights; the chosen one is marked. */
  readonly backends: readonly ExplainedBackend[]
  /** Endpoints by priority; the chosen one is marked. */
  readonly endpoints: readonly ExplainedEndpoint[]
  /** Undefined: the request would be forwarded. */
  readonly outcome: Outcome
  /** The client reads refusals as gRPC statuses. */
  readonly grpc: boolean
  /** The upstream request as latin-1 text; undefined if nothing is sent, or if the protocol is served by the gateway itself. */
  readonly upstream: string | undefined
  /** The HTTP version towards the endpoint; undefined if nothing is sent. */
  readonly upstreamHttp: Destination['http']
  /** How the protocol of the backend handles the request. */
  readonly protocol: ProtocolExplanation | undefined
}

export interface ExplainedCallout extends TracedCallout {
  /** The server was asked. */
  readonly sent: boolean
  /** Undefined: it was not asked, or has not finished. */
  readonly answer: Callout | undefined
}

/** Calls for a request, as in a proxy. */
export interface ExplainCalls {
  ofRequest(exchange: Exchange): Call
}

export interface ExplainInputs {
  /** Milliseconds since the epoch; the clock stays fixed at this time. */
  readonly nowMs: number
  readonly plan: LivePlan
  readonly socket: LiveSocket
  /** Asks the servers that policies ask. Undefined: nothing is sent. */
  readonly calls?: ExplainCalls
}

/** A fixed clock, constant random numbers and no calls, so that the result is reproducible. Calls that cannot be made fail as in a proxy. */
function virtualContext(plan: LivePlan, nowMs: number, startMonotonicMs: number): RunContext {
  const call: Call = (destination) => {
    const backend = plan.calledBackend(destination)
    const canBeMade = backend !== undefined && backend.refusal === undefined && backend.groups.flat().length > 0
    const detail = backend === undefined ? 'the backend does not exist' : backend.refusal?.detail
    return Promise.reject(new CallError(canBeMade ? 'not-made' : 'no-endpoint', detail))
  }
  return {
    ...NO_CLIENT,
    now: () => nowMs,
    monotonic: () => startMonotonicMs,
    random: FIRST,
    uuid: () => '00000000-0000-4000-8000-000000000000',
    signal: new AbortController().signal,
    call,
    callLater: call,
    callShared: call,
    callSections: call,
  }
}

/** The same with calls, which take time. */
function callingContext(calls: ExplainCalls, plan: LivePlan, nowMs: number, exchange: Exchange): RunContext {
  const call: Call = (destination, request) => calls.ofRequest(exchange)(destination, request)
  const monotonic = () => clock.monotonic()
  return { ...virtualContext(plan, nowMs, exchange.startMonotonicMs), monotonic, call, callShared: call }
}

/** Always selects the first candidate. */
const FIRST = () => 0

/** Runs the engine of the proxy on an exchange and reports what it did. The exchange changes as it would for a real request. */
export async function explainRequest(
  { nowMs, plan, socket, calls }: ExplainInputs,
  exchange: Exchange,
): Promise<Explanation> {
  const steps: TraceStep[] = []
  const limits: TracedLimit[] = []
  const callouts: TracedCallout[] = []
  const credentials: WrittenCredential[] = []
  let notes: string[] = []
  const trace: Trace = {
    isCalling: calls !== undefined,
    step(step) {
      steps.push(notes.length === 0 ? step : { ...step, notes })
      notes = []
    },
    note: (text) => notes.push(text),
    limit: (limit) => limits.push(limit),
    callout: (callout) => callouts.push(callout),
    copy: (...copy) => notes.push(describeCopy(plan, ...copy)),
    credential: (kind, name) => credentials.push({ kind, name }),
  }
  exchange.trace = trace
  const overs: (() => void)[] = []
  exchange.context = {
    ...(calls === undefined
      ? virtualContext(plan, nowMs, exchange.startMonotonicMs)
      : callingContext(calls, plan, nowMs, exchange)),
    whenOver: (over) => overs.push(over),
  }
  exchange.workloads = plan.workloads
  const decision = new Decision()
  const received = exchange.originalTarget.split('?', 1)[0]!
  const { index } = plan
  let outcome = await decide({ index, socket, random: FIRST }, exchange, decision)
  const sends = outcome === undefined && decision.backend?.protocol.serve === undefined
  if (sends) outcome = await attempt(exchange, decision)
  outcome ??= await readRest(exchange, decision, sends)
  if (outcome?.kind === 'answer') outcome = transformAnswer(outcome, exchange, decision)
  if (outcome?.kind === 'refusal') outcome = refuseForClient(outcome, index, exchange, decision)
  const { listener, rule, match } = decision
  // Of a request that was refused for its endpoint, how it was read may be the reason.
  const isRead = outcome === undefined || (outcome.kind === 'refusal' && decision.endpoint !== undefined)
  const protocol = isRead ? explainProtocol(exchange, decision) : undefined
  outcome ??= protocol?.refusal
  for (const over of overs) over()
  const isSent = sends && outcome === undefined
  return {
    path: { received, matched: matchedPath(received) },
    listener: listener?.item,
    route: rule === undefined || match === undefined ? undefined : { item: rule.item, match },
    nearMisses: decision.nearMisses,
    otherHostnames: otherHostnames(outcome, decision),
    policies: effectivePolicies(decision, new RecordedLookups(index)),
    steps,
    consumer: consumerOf(exchange.identity),
    limits,
    callouts: withAnswers(callouts, calls !== undefined, exchange.callouts ?? []),
    credentials: [...credentials, ...exchange.redactedParameters.map(queryParameter)],
    backends: explainBackends(rule, decision.backend, index),
    endpoints: explainEndpoints(decision),
    outcome,
    grpc: isGrpcRequest(exchange.request),
    upstream: isSent ? upstreamText(exchange) : undefined,
    upstreamHttp: isSent ? httpVersionOf(exchange, decision) : undefined,
    protocol,
  }
}

function otherHostnames(outcome: Outcome, { listener, nearMisses }: Decision): readonly string[] {
  if (outcome?.kind !== 'refusal' || outcome.code !== 'route-not-found' || nearMisses.length > 0) return []
  return listener!.routes.hostnames.filter((hostname) => hostname !== '')
}

function describeCopy(plan: LivePlan, backend: string, numerator: number, denominator: number): string {
  const name = backendName(backend)
  if (plan.calledBackend(backend)?.protocol.isGuarded === true) {
    return `copies no request to ${name}: no prompt guard of it would check the copy (mirror-guarded)`
  }
  return `copies ${numerator} of ${denominator} requests to ${name}`
}

/** Answers are in the order in which they came: a server may answer a later question of another policy first. */
function withAnswers(
  callouts: readonly TracedCallout[],
  sent: boolean,
  answers: readonly Callout[],
): ExplainedCallout[] {
  const open = [...answers]
  return callouts.map((callout) => {
    const at = open.findIndex(({ policy, backend }) => policy === callout.policy && backend === callout.backend)
    const [answer] = at < 0 ? [] : open.splice(at, 1)
    return { ...callout, sent, answer }
  })
}

function queryParameter(name: string): WrittenCredential {
  return { kind: 'queryParameter', name }
}

/** Response policies apply to configured answers as to those of backends. */
function transformAnswer(answer: Answer, exchange: Exchange, decision: Decision): Outcome {
  const { head, body } = answer
  exchange.response = head
  exchange.responseBody = wholeBody(typeof body === 'string' ? new TextEncoder().encode(body) : body)
  const replaced = runResponsePolicies(exchange, decision)
  return replaced ?? { ...answer, body: exchange.newResponseBody ?? body }
}

function explainProtocol(
  exchange: Exchange,
  { backend, endpoint, listener }: Decision,
): ProtocolExplanation | undefined {
  const boundToLoopback = listener !== undefined && isLoopbackAddress(listener.item.address)
  return backend?.protocol.explain?.(exchange, endpoint, boundToLoopback)
}

function httpVersionOf(exchange: Exchange, { place }: Decision): Destination['http'] {
  return chooseDestination(place!.destinations, exchange, exchange.request.upgrade).http
}

/** Runs the script of a request with values: a request that is ready to be sent has no outcome. */
function attempt(exchange: Exchange, decision: Decision): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    beginScript(VALUES, { exchange, decision, attemptStart: undefined, retriesLeft: 0, resolve, reject })
  })
}

interface ExplainedAttempt extends ScriptedRequest {
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (bug: unknown) => void
}

const VALUES: ScriptDriver<ExplainedAttempt> = {
  hasUnreadBody: ({ exchange }) => exchange.requestBody.kind === 'unread',
  keepBody: () => true,
  collectBody(request, use) {
    const { exchange, decision, reject } = request
    const read = exchange.bodies.request.read(decision.frontend!.maxBufferBytes, use)
    read.then((unread) => bodyCollected(VALUES, request, use, unread)).catch(reject)
  },
  decodeBody(request) {
    const { exchange, decision, reject } = request
    const decoded = exchange.bodies.request.decode(decision.frontend!.maxBufferBytes)
    decoded.then((undecoded) => bodyDecoded(VALUES, request, undecoded)).catch(reject)
  },
  chooseEndpoint: ({ exchange, decision: { backend, unfit } }) =>
    chooseForAttempt(backend!, exchange.session, { tried: [], unfit }, FIRST),
  wait(request, outcome) {
    outcome.then((settled) => attemptPrepared(VALUES, request, settled)).catch(request.reject)
  },
  leaveToOthers: (request) => beginAttempt(VALUES, request),
  refuse: ({ resolve }, refusal) => resolve(refusal),
  finish: ({ resolve }, outcome) => resolve(outcome),
}

/** What no policy has read: it is sent whole, or the protocol that serves the request reads it. */
async function readRest(exchange: Exchange, { frontend }: Decision, sends: boolean): Promise<Refusal | undefined> {
  const maxBytes = sends ? Number.POSITIVE_INFINITY : frontend!.maxBufferBytes
  const unread = await exchange.bodies.request.read(maxBytes, true)
  if (unread !== undefined) return unread
  return exchange.requestBody.kind === 'large' ? refuseLargeBody('body-too-large', maxBytes) : undefined
}

/** All effective policies of the request: traffic, backend, frontend. */
function effectivePolicies(decision: Decision, lookups: Lookups): EffectivePolicy[] {
  const { listener, rule, backend, endpoint } = decision
  if (listener === undefined) return []
  const atListener = listenerTargets(listener.item)
  const atRule = rule === undefined ? atListener : [...atListener, ...ruleTargets(rule.item)]
  const list = (section: PolicySection, phase: Phase | undefined, targets: readonly string[]) =>
    policiesInForce({ section, phase, targets }, lookups)
  const policies = list('traffic', 'PreRouting', atListener)
  if (rule !== undefined) policies.push(...list('traffic', 'PostRouting', atRule))
  if (backend !== undefined) {
    policies.push(
      ...list('backend', undefined, [...backend.targets, ...backendTargets(backend.item, endpoint?.section)]),
    )
  }
  policies.push(...list('frontend', undefined, atListener))
  return policies
}

function upstreamText(exchange: Exchange): string {
  const { request } = exchange
  const body = exchange.newRequestBody ?? exchange.requestBody.whole
  const length = body?.length ?? 0
  // If the client sent a body and its replacement is empty, the Content-Length is 0.
  const kind = length === 0 && request.contentLength <= 0 ? BODY_NONE : BODY_LENGTH
  const head = request.writeRequest(kind, announcedLength(request, { kind, length }), '')
  if (body === undefined) return head
  let text = head
  for (const byte of body) text += String.fromCharCode(byte)
  return text
}
