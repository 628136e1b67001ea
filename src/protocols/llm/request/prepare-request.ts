import type { Steps } from '#base/in-slices.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { LlmReads } from '#exchange/llm-reads.ts'
import type { Refusal } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import type { Head } from '#net/http/head.ts'
import type { AiPlan, AiProviderPlan } from '../ai-plan.ts'
import type { NativeRequest } from '../answer/form-change.ts'
import { KeptAnswer } from '../answer/kept-answer.ts'
import { enrichMessages, moveMaxTokens, requestUsage } from '../completions/request.ts'
import type { Guard } from '../guards/guard.ts'
import { guardRequest } from '../guards/guard-request.ts'
import { isGuardedFormat } from '../guards/guarded-format.ts'
import { BodyEdits } from '../json/edit-members.ts'
import { type ExactNames, findCaseVariant } from '../json/exact-names.ts'
import { parseInSteps } from '../json/json-document.ts'
import { findInvalidUtf8 } from '../json/native.ts'
import { runForBody } from '../json/run-for-body.ts'
import { findMember, MAX_MEMBERS, type Members, scanMembers, stringAt, valueIs } from '../json/scan-members.ts'
import type { JsonFault } from '../json/unreadable.ts'
import { readCountablePrompt } from '../messages/countable-prompt.ts'
import { enrichConversation } from '../messages/request.ts'
import { isOfMessagesClient } from '../model-lists/messages-client.ts'
import { modelOf } from '../models/models.ts'
import type { RouteType } from '../policy-schema.ts'
import { type Conversion, type HeaderEdits, NO_EDITS } from '../providers/provider.ts'
import { type PreparedSession, prepareSession } from '../realtime/prepare-session.ts'
import { enrichInput } from '../responses/request.ts'
import type { LocalCount } from '../tokens/count-tokens.ts'
import { TokenAccount } from '../tokens/token-account.ts'
import { NATIVE_DIALECTS } from '../translation/dialects.ts'
import { dropForeignThoughts, mayHaveForeignThoughts } from '../translation/drop-foreign-thoughts.ts'
import { foreignFields } from '../translation/foreign-fields.ts'
import { DIGESTS } from '../translation/translate-head.ts'
import { type AnswerTranslation, type TranslatedRequest, translateInSteps } from '../translation/translate-request.ts'
import { applyBodySettings } from './body-settings.ts'
import { finalModel } from './final-model.ts'
import { otherInterface } from './known-paths.ts'
import type { PromptEnrichment } from './prompt-enrichment.ts'
import { formatRefusal, refuse, refuseClosed, refuseFault, refuseUnfit } from './refuse.ts'
import { buildFacts, modelIn } from './request-facts.ts'
import { type ClientFormat, isClientFormat, lenientRouteType, methodOf, resolveRouteType } from './route-type.ts'
import { SentRequest } from './sent-request.ts'
import { upstreamPath } from './upstream-path.ts'

/** The request for the provider, and how its response is read. */
export interface PreparedLlmRequest {
  readonly kind: 'send'
  readonly type: RouteType
  /** Request target: path and query. */
  readonly path: string
  readonly headers: HeaderEdits
  /** The body to send: the given bytes if nothing changed; undefined: forward the body as it arrives. */
  readonly body: Uint8Array | undefined
  /** Becomes `exchange.llm`; undefined for Passthrough. */
  readonly facts: LlmFacts | undefined
  readonly response: ResponsePlan
}

/** A refusal in the client's dialect, the request to send or to open a session with, or what the gateway responds to itself. */
export type PreparedRequest = PreparedLlmRequest | PreparedSession | LocalCount | ModelsRequest | Refusal

/** The client asks for the list of models. */
export interface ModelsRequest {
  readonly kind: 'models'
}

const MODELS: ModelsRequest = { kind: 'models' }

/** How the response to a request is read. */
export interface ResponsePlan {
  /** The dialect of the provider's response. */
  readonly wire: RouteType
  /** Only the gateway requested the usage chunk of the stream, so it is removed again. */
  readonly hidesUsage: boolean
  /** Keeps output of the model; undefined: no expression in force reads it. The same as `facts.answer`. */
  readonly kept: KeptAnswer | undefined
  /** The provider speaks another dialect than the client. */
  readonly translation: AnswerTranslation | undefined
  /** It speaks the same one; undefined where nothing is read of the request. */
  readonly native: NativeRequest | undefined
  /** They check the response in the dialect of the client. */
  readonly guards: readonly Guard[]
  /** Limit of bodies in bytes. */
  readonly maxBytes: number
  /** Estimates tokens that the provider does not report; undefined: nothing reads tokens, or none are used. */
  readonly account: TokenAccount | undefined
}

/** Inputs besides the exchange. */
export interface RequestInput {
  /** The whole body; null if it exceeds the limit, undefined if it was not read (`bodyNeed`) or there is none. */
  readonly body: Uint8Array | null | undefined
  /** The parts of the call that limits and expressions in force read. */
  readonly reads: LlmReads
  /** Limit of bodies in bytes, and of what is kept of a response for expressions in characters. */
  readonly maxKept: number
}

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
  const type = preparedType(provider, exchange) ?? otherInterface(exchange.originalTarget)?.type ?? 'Completions'
  // The two interfaces have the same path for lists.
  return type === 'Models' && isOfMessagesClient(exchange.request) ? 'Messages' : type
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
  return resolveRouteType(provider.settings.routes, target, originalTarget)
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
  if (type === undefined) return refuse(dialectOf(provider, exchange), 'llm-route-unknown')
  const method = methodOf(type)
  if (method !== undefined && exchange.request.method !== method) {
    return { ...refuse(dialectOf(provider, exchange), 'method-not-allowed'), headers: [['allow', method]] }
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

/** The path has a type that is checked otherwise, or not at all, than that for a provider that reads it leniently. */
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
  const account = input.reads.tokens ? new TokenAccount(type, facts, input.body ?? undefined) : undefined
  const response = asIs(type, input, { kept, account })
  return { kind: 'send', type, path, headers: withoutEncoding(headers), body: undefined, facts, response }
}

function asIs(wire: RouteType, { maxKept }: RequestInput, { kept, account }: Partial<ResponsePlan>): ResponsePlan {
  return {
    ...{ wire, hidesUsage: false, kept, account, guards: NO_GUARDS, maxBytes: maxKept },
    ...{ translation: undefined, native: undefined },
  }
}

function detectFacts(
  provider: AiProviderPlan,
  body: Uint8Array | null | undefined,
  answer: KeptAnswer | undefined,
): LlmFacts {
  const members = body == null ? undefined : scanExactly(body, provider.settings.members)
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

function keptAnswer({ reads, maxKept }: RequestInput): KeptAnswer | undefined {
  return reads.completion || reads.toolCalls ? new KeptAnswer(reads, maxKept) : undefined
}

function prepareTyped(
  provider: AiProviderPlan,
  type: ClientFormat,
  exchange: Exchange,
  input: RequestInput,
): PreparedRequest | Promise<PreparedRequest> {
  const { settings } = provider
  const { closed = false, request: requestGuards = [] } = settings.guards ?? {}
  if (closed !== false || requestGuards.length > 0) exchange.recordedBody = null
  if (closed !== false) return refuseClosed(type, closed)
  if (input.body === null) return formatRefusal(type, refuseLargeBody('body-too-large', input.maxKept))
  if (input.body === undefined || input.body.length === 0) return refuseFault(type, NO_BODY)
  // A coding of the client was decoded before; this one is from a policy.
  const coding = exchange.request.joined('content-encoding')
  if (coding !== undefined && coding !== 'identity') return refuse(type, 'content-coding-unsupported')
  const received = readMembers(input.body, settings.members)
  if ('fault' in received) return refuseFault(type, received)

  const changed = settings.body && applyBodySettings(settings.body, received, exchange)
  const members = rescan(received, changed?.body)
  const modelAt = findMember(members, 'model')
  const given = modelAt < 0 ? undefined : stringAt(members, modelAt)
  const chosen = finalModel(provider, given)
  if (chosen === undefined) return refuseUnfit(type, 'llm-model-missing')
  const { name: model, replacement } = chosen

  const streaming = isStreamed(members)
  // Settings decide what the provider sends, and the client about the form that it gets.
  const asksStream = members === received ? streaming : isStreamed(received)
  const conversion = provider.provider.convert(type, model, streaming)
  const sends = conversion.kind === 'send'
  if (!sends && conversion.kind !== 'count') return refuseConversion(type, provider, conversion.kind)
  const isNative = !sends || conversion.dialect === NATIVE_DIALECTS[type]

  const edits = new BodyEdits(members)
  if (replacement !== undefined && model !== given) edits.set('model', modelAt, replacement.json)
  const hidesUsage = isNative && streaming && type === 'Completions' && requestUsage(members, input.reads.tokens, edits)
  if (isNative && type === 'Completions' && provider.provider.movesMaxTokens) moveMaxTokens(members, model, edits)
  if (settings.prompt !== undefined && ENRICH[type]?.(members, settings.prompt, edits) === false) {
    return refuse(type, 'llm-body-invalid', 'the request has no list of messages')
  }
  const finish = (final: Uint8Array | Refusal): PreparedRequest | Promise<PreparedRequest> => {
    if ('kind' in final) return final
    const removedFields = changed?.removed ?? NONE
    const call = { ...chosen.facts, streaming, request: new SentRequest(type, members, final), removedFields }
    if (!sends) return runForBody(final, prepareCount(type, final, buildFacts(provider, type, call)))
    const sent = { provider, type, conversion, isNative, model, hidesUsage, asksStream }
    return prepareSent(sent, call, final, exchange, input)
  }
  const { guards } = settings
  // Guards see the request in its final form, with the configured messages. A local count sends nothing to a provider.
  if (guards === undefined || guards.request.length === 0 || !sends) return finish(edits.apply())
  const pass = (final: Uint8Array | Refusal) => {
    if (!('kind' in final)) exchange.recordedBody = final
    return finish(final)
  }
  const guarded = guardRequest(guards, type, edits.apply(), exchange)
  return guarded instanceof Promise ? guarded.then(pass) : pass(guarded)
}

/** A call whose body is final in the dialect of the client. */
interface FinalCall {
  readonly provider: AiProviderPlan
  readonly type: ClientFormat
  readonly conversion: Extract<Conversion, { kind: 'send' }>
  /** The provider speaks the dialect of the client. */
  readonly isNative: boolean
  readonly model: string
  readonly hidesUsage: boolean
  readonly asksStream: boolean
}

function prepareSent(
  call: FinalCall,
  facts: Partial<LlmFacts>,
  final: Uint8Array,
  exchange: Exchange,
  input: RequestInput,
): PreparedLlmRequest | Refusal | Promise<PreparedLlmRequest | Refusal> {
  const { provider, type, conversion, isNative } = call
  const complete = (written: WrittenRequest | Refusal): PreparedLlmRequest | Refusal => {
    if (!('kind' in written)) return completeSent(call, facts, final, written, exchange, input)
    const detail = `${written.detail} (for ${provider.provider.system}, model ${call.model})`
    return { ...written, detail, endpointFault: 'unfit' }
  }
  if (isNative && conversion.edit === undefined && !mayHaveForeignThoughts(type, final)) {
    return complete({ body: final, translated: undefined })
  }
  const written = runForBody(final, writeRequest(call, final, exchange.request))
  return written instanceof Promise ? written.then(complete) : complete(written)
}

/** A body as its provider takes it. */
interface WrittenRequest {
  readonly body: Uint8Array
  readonly translated: TranslatedRequest | undefined
}

function* writeRequest(
  { provider, type, conversion, isNative }: FinalCall,
  final: Uint8Array,
  head: Head,
): Steps<WrittenRequest | Refusal> {
  const translated = isNative
    ? undefined
    : yield* translateInSteps(type, conversion, final, head, provider.settings.caching)
  if (translated !== undefined && 'kind' in translated) return translated
  const body = translated?.body ?? (yield* dropForeignThoughts(type, final))
  return { body: conversion.edit === undefined ? body : yield* conversion.edit(body), translated }
}

function completeSent(
  { provider, type, conversion, hidesUsage, asksStream }: FinalCall,
  call: Partial<LlmFacts>,
  final: Uint8Array,
  { body, translated }: WrittenRequest,
  exchange: Exchange,
  input: RequestInput,
): PreparedLlmRequest {
  const path = upstreamPath(provider.path ?? conversion.path, exchange.request.target)
  const required = provider.provider.headers(exchange.request, provider.credential, path)
  const foreign =
    translated &&
    foreignFields(type, conversion.dialect, exchange.request, provider.credential?.location === 'elsewhere')
  const untrue = body === input.body ? [] : DIGESTS.filter((name) => exchange.request.has(name))
  const headers = withoutEncoding(ofJson(required, exchange.request), [...untrue, ...(foreign ?? [])])
  const kept = keptAnswer(input)
  const guards = isGuardedFormat(type) ? (provider.settings.guards?.response ?? NO_GUARDS) : NO_GUARDS
  const isGuarded = guards.length > 0
  const facts = buildFacts(provider, type, { ...call, answer: kept, translation: translated?.facts, isGuarded })
  const account = input.reads.tokens ? new TokenAccount(type, facts, final) : undefined
  const response: ResponsePlan = {
    wire: type,
    hidesUsage,
    kept,
    account,
    translation: translated && inForm(translated.answer, asksStream),
    native: translated === undefined ? { type, streamed: asksStream, body: input.body! } : undefined,
    guards,
    maxBytes: input.maxKept,
  }
  return { kind: 'send', type, path, headers, body, facts, response }
}

function inForm(answer: AnswerTranslation, streamed: boolean): AnswerTranslation {
  return answer.kind === 'chat' && answer.streamed !== streamed ? { ...answer, streamed } : answer
}

const NO_GUARDS: readonly Guard[] = []
const NONE: readonly never[] = []

/** A token count that the gateway makes itself, of the body that the provider would get. */
function* prepareCount(type: ClientFormat, body: Uint8Array, facts: LlmFacts): Steps<LocalCount | Refusal> {
  const document = yield* parseInSteps(body)
  if ('fault' in document) return refuseFault(type, document)
  const { vocabulary } = modelOf(facts.requestModel)
  return { kind: 'count', prompt: yield* readCountablePrompt(document), vocabulary, facts }
}

const NO_BODY: JsonFault = { fault: 'not-an-object', at: 0 }

/** The members of a body that must be JSON, whatever its provider would make of it. */
function readMembers(body: Uint8Array, names: ExactNames): Members | JsonFault {
  const invalid = findInvalidUtf8(body)
  return invalid < 0 ? scanExactly(body, names) : { fault: 'not-json', at: invalid }
}

/** The members of a body in which every relevant name is unambiguous (decision B29). */
function scanExactly(body: Uint8Array, names: ExactNames): Members | JsonFault {
  const members = scanMembers(body, MAX_MEMBERS)
  if ('fault' in members) return members
  const variant = findCaseVariant(members, names)
  return variant < 0 ? members : { fault: 'ambiguous-key', at: members.offsets[4 * variant]! - 1 }
}

/** The members of the changed body; the original and the changes are well-formed. */
function rescan(received: Members, changed: Uint8Array | undefined): Members {
  if (changed === undefined || changed === received.bytes) return received
  const members = scanMembers(changed)
  if ('fault' in members) throw new Error('editing a body broke its JSON')
  return members
}

type Enrich = (members: Members, prompt: PromptEnrichment, edits: BodyEdits) => boolean

const ENRICH: Partial<Record<ClientFormat, Enrich>> = {
  Completions: enrichMessages,
  Messages: enrichConversation,
  MessagesTokenCount: enrichConversation,
  Responses: enrichInput,
}

function refuseConversion(
  type: ClientFormat,
  { provider }: AiProviderPlan,
  kind: Exclude<Conversion['kind'], 'send' | 'count'>,
): Refusal {
  switch (kind) {
    case 'unsupported':
      return refuseUnfit(type, 'llm-unsupported', `from ${type} to provider ${provider.system}`)
    case 'model-unfit':
      return refuseUnfit(type, 'llm-body-invalid', 'the model name cannot be used')
  }
}

function isStreamed(members: Members): boolean {
  const index = findMember(members, 'stream')
  return index >= 0 && valueIs(members, index, 'true')
}

/**
 * The body is JSON in UTF-8, as the gateway has read it. The client may have sent another type, because typed routes do not check it (decision
 * B04), or none. Some servers would read a body of `charset=utf-7` otherwise than the guards did.
 */
function ofJson(edits: HeaderEdits, request: Head): HeaderEdits {
  const type = request.joined('content-type')
  if (type === JSON_TYPE || (type !== undefined && UTF8_JSON.test(type))) return edits
  return { set: [...edits.set, ['content-type', JSON_TYPE]], remove: edits.remove }
}

const JSON_TYPE = 'application/json'
const UTF8_JSON = /^application\/json(?: *; *charset=(?:utf-8|"utf-8"))?$/i

/** The gateway reads the response, so it must not be compressed. */
const UNCOMPRESSED: HeaderEdits = { ...NO_EDITS, remove: ['accept-encoding'] }

function withoutEncoding(edits: HeaderEdits, removed: readonly string[] = []): HeaderEdits {
  if (edits === NO_EDITS && removed.length === 0) return UNCOMPRESSED
  return { set: edits.set, remove: [...edits.remove, ...removed, 'accept-encoding'] }
}
