import type { Exchange } from '#exchange/exchange.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { ResponsePlan } from '../answer/response-plan.ts'
import { formatRefusal, refuse } from '../dialects/refuse.ts'
import type { KeptAnswer } from '../facts/kept-answer.ts'
import { isOfMessagesClient } from '../model-lists/messages-client.ts'
import { modelOf } from '../models/models.ts'
import type { AiPlan, AiProviderPlan } from '../plan/ai-plan.ts'
import { buildFacts, modelIn } from '../plan/request-facts.ts'
import { prepareSession } from '../realtime/prepare-session.ts'
import { otherInterface, unreadCall } from '../settings/known-paths.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { isClientFormat, lenientRouteType, methodOf, modelPath, resolveRouteType } from '../settings/route-type.ts'
import { TokenAccount } from '../tokens/token-account.ts'
import { prepareTyped } from './prepare-typed.ts'
import {
  keptAnswer,
  type ModelsRequest,
  type PreparedLlmRequest,
  type PreparedRequest,
  type RequestInput,
} from './prepared-request.ts'
import { withoutEncoding } from './request-headers.ts'
import { isStreamed, scanExactly } from './request-members.ts'
import { SentRequest } from './sent-request.ts'

const MODELS: ModelsRequest = { kind: 'models' }

/**
 * A refusal of any step (rate limit, authentication, no healthy backend) in the dialect of the client (docs/behaviour/llm.md, "Errors").
 * Configured bodies stay unchanged.
 */
export function refuseInDialect(plan: AiPlan, exchange: Exchange, refusal: Refusal): Refusal {
  const provider = plan.providers[0]
  return provider === undefined ? refusal : formatRefusal(dialectOf(provider, exchange), refusal)
}

/** The route type whose error format the client understands; for a path without a route type, that of the interface it belongs to. */
function dialectOf(provider: AiProviderPlan, exchange: Exchange): RouteType {
  const { originalTarget } = exchange
  const type = preparedType(provider, exchange) ?? (unreadCall(originalTarget) ?? otherInterface(originalTarget))?.type
  // Both APIs list models at the same path.
  return type === 'Models' && isOfMessagesClient(exchange.request) ? 'Messages' : (type ?? 'Completions')
}

/**
 * The route type of a request at a provider; it decides whether the body is needed (`bodyNeed`).
 * @param target replaces the target of the request
 * @returns undefined: the request is refused
 */
export function routeTypeOf(
  provider: AiProviderPlan,
  { request, originalTarget }: Exchange,
  target: string = request.target,
): RouteType | undefined {
  const { routes } = provider.settings
  const type = resolveRouteType(routes, target, originalTarget)
  if (request.method !== 'GET' || (type !== undefined && !isClientFormat(type))) return type
  return modelPath(routes, target) === undefined && modelPath(routes, originalTarget) === undefined ? type : 'Models'
}

/** The same also if the request may have been prepared, so that its path may be that of the provider. */
export function preparedType(provider: AiProviderPlan, exchange: Exchange): RouteType | undefined {
  return exchange.llm?.routeType ?? routeTypeOf(provider, exchange)
}

/**
 * Converts a request into the request for one provider. Pure, so that `explain` shows the exact bytes. Runs for each attempt, after backend
 * authentication (the provider may require the credential in another header). Of the exchange, it changes only what records say about guards.
 * @returns a promise only if a guard takes long, or a long body is changed
 */
export function prepareLlmRequest(
  plan: AiPlan,
  providerIndex: number,
  exchange: Exchange,
  input: RequestInput,
): PreparedRequest | Promise<PreparedRequest> {
  const provider = plan.providers[providerIndex]!
  const type = routeTypeOf(provider, exchange)
  const method = type && methodOf(type)
  if (type === undefined || (method !== undefined && exchange.request.method !== method)) {
    return refuseCall(dialectOf(provider, exchange), method, exchange)
  }
  if (!isClientFormat(type) && isUnguardedSpelling(provider, type, exchange)) {
    return refuse(dialectOf(provider, exchange), 'path-ambiguous')
  }
  if (type === 'Models') return MODELS
  if (isClientFormat(type)) return prepareTyped(provider, type, exchange, input)
  if (type === 'Realtime') {
    return prepareSession(provider, exchange, { maxBytes: input.maxKept, estimates: input.reads.tokens })
  }
  return prepareAsIs(provider, type, exchange, input)
}

/**
 * Refuses a call that has no route type, or another method than its type.
 * @param method that the type of the path has; undefined: it has no type
 */
function refuseCall(dialect: RouteType, method: string | undefined, { request, originalTarget }: Exchange): Refusal {
  const unread = unreadCall(originalTarget)
  if (unread !== undefined) {
    const advice = `the gateway does not read this call; the entry "${unread.key}: Passthrough" in routes forwards it unread`
    return refuse(dialect, 'llm-route-unknown', advice)
  }
  if (method === undefined) return refuse(dialect, 'llm-route-unknown')
  const allow = ['allow', method] as const
  // Clients of responses try WebSockets first. Only this status makes them use HTTP at once.
  if (method === 'POST' && request.upgrade.toLowerCase() === 'websocket') {
    return { ...refuse(dialect, 'llm-websocket-unsupported'), headers: [allow, ['upgrade', 'HTTP/1.1']] }
  }
  return { ...refuse(dialect, 'method-not-allowed'), headers: [allow] }
}

/** Whether a provider that reads paths leniently would see another type, which has guards: the request would bypass them. */
function isUnguardedSpelling({ settings }: AiProviderPlan, type: RouteType, { request }: Exchange): boolean {
  if (settings.guards === undefined) return false
  const other = lenientRouteType(settings.routes, request.target)
  return other !== undefined && other !== type && (isClientFormat(other) || other === 'Realtime')
}

/** Passthrough and Detect: bytes, path and query are unchanged (decisions B05, B06). */
function prepareAsIs(
  provider: AiProviderPlan,
  type: 'Passthrough' | 'Detect',
  exchange: Exchange,
  input: RequestInput,
): PreparedLlmRequest {
  const path = exchange.request.target
  const headers = provider.provider.headers(exchange.request, provider.credential, path)
  if (type === 'Passthrough') {
    const response = asIs(type, input, {})
    return { kind: 'send', type, path, headers, body: undefined, facts: undefined, response }
  }
  const kept = keptAnswer(input)
  const facts = detectFacts(provider, input.body, kept)
  const account = input.reads.tokens ? new TokenAccount(type, facts, input.body) : undefined
  const response = asIs(type, input, { kept, account })
  return { kind: 'send', type, path, headers: withoutEncoding(headers), body: undefined, facts, response }
}

function asIs(wire: RouteType, { maxKept }: RequestInput, { kept, account }: Partial<ResponsePlan>): ResponsePlan {
  return {
    ...{ wire, hidesUsage: false, kept, account, guards: [], maxBytes: maxKept },
    ...{ translation: undefined, native: undefined },
  }
}

function detectFacts(provider: AiProviderPlan, body: Uint8Array | undefined, answer: KeptAnswer | undefined): LlmFacts {
  const members = body === undefined ? undefined : scanExactly(body, provider.settings.members)
  if (members === undefined || 'fault' in members) return buildFacts(provider, 'Detect', { answer })
  const request = new SentRequest('Detect', members)
  const requestModel = modelIn(members) ?? ''
  return buildFacts(provider, 'Detect', {
    requestModel,
    knownModel: modelOf(requestModel).name,
    streaming: isStreamed(members),
    request,
    answer,
  })
}
