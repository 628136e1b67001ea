import type { Steps } from '#base/in-slices.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { Refusal } from '#exchange/outcome.ts'
import { refuseLargeBody } from '#exchange/refuse-large-body.ts'
import type { ResponsePlan } from '../answer/response-plan.ts'
import { FORMATS, isChatType } from '../dialects/index.ts'
import { readCountablePrompt } from '../dialects/messages/countable-prompt.ts'
import { formatRefusal, refuse, refuseFault, refuseUnfit } from '../dialects/refuse.ts'
import { guardRequest } from '../guards/guard-request.ts'
import { refuseClosed } from '../guards/guarded-refusal.ts'
import { BodyEdits } from '../json/edit-members.ts'
import { parseInSteps } from '../json/json-document.ts'
import { runForBody } from '../json/run-for-body.ts'
import { findMember, type Members, stringAt } from '../json/scan-members.ts'
import type { JsonFault } from '../json/unreadable.ts'
import { modelOf } from '../models/models.ts'
import type { AiProviderPlan } from '../plan/ai-plan.ts'
import { type FinalModel, finalModel } from '../plan/final-model.ts'
import { buildFacts, misreadAt } from '../plan/request-facts.ts'
import type { Sending } from '../providers/provider.ts'
import { upstreamPath } from '../providers/upstream-path.ts'
import { applyBodySettings } from '../settings/body-settings.ts'
import type { ClientFormat } from '../settings/route-type.ts'
import { TokenAccount } from '../tokens/token-account.ts'
import { dropForeignThoughts, mayHaveForeignThoughts } from '../translation/drop-foreign-thoughts.ts'
import { foreignFields } from '../translation/foreign-fields.ts'
import { DIGESTS } from '../translation/translate-head.ts'
import { type AnswerTranslation, type TranslatedRequest, translateInSteps } from '../translation/translate-request.ts'
import type { LocalCount } from './count-tokens.ts'
import { keptAnswer, type PreparedLlmRequest, type PreparedRequest, type RequestInput } from './prepared-request.ts'
import { ofJson, withBetas, withoutEncoding } from './request-headers.ts'
import { isStreamed, readMembers, rescan } from './request-members.ts'
import { SentRequest } from './sent-request.ts'

/**
 * Converts a request of a format into the request for one provider: `readBody`, `settle`, `guard`, `convert`, `finish`. Everything that the
 * configuration says is done in the format of the client, before the request is converted (decision B18).
 */
export function prepareTyped(
  provider: AiProviderPlan,
  type: ClientFormat,
  exchange: Exchange,
  input: RequestInput,
): PreparedRequest | Promise<PreparedRequest> {
  const { closed = false, request: guards = [] } = provider.settings.guards ?? {}
  if (closed !== false || guards.length > 0) exchange.recordedBody = 'withheld'
  if (closed !== false) return refuseClosed(type, closed)
  const call = { provider, type, exchange, input }
  const received = readBody(call)
  if (isRefusal(received)) return received
  const settled = settle(call, received)
  if (isRefusal(settled)) return settled
  const { conversion } = settled
  if (conversion.kind === 'count') return count(settled)
  return andThen(guard(settled), (final) =>
    andThen(convert(settled, conversion, final), (written) => finish(settled, conversion, final, written)),
  )
}

/** Applies a step to the value of the step before, unless it is a refusal. */
function andThen<Value extends object, Result extends object>(
  value: Value | Refusal | Promise<Value | Refusal>,
  step: (value: Value) => Result | Refusal | Promise<Result | Refusal>,
): Result | Refusal | Promise<Result | Refusal> {
  if (value instanceof Promise) return value.then((settled) => andThen(settled, step))
  return isRefusal(value) ? value : step(value)
}

function isRefusal(value: object): value is Refusal {
  return 'kind' in value && value.kind === 'refusal'
}

interface Call {
  readonly provider: AiProviderPlan
  readonly type: ClientFormat
  readonly exchange: Exchange
  readonly input: RequestInput
}

/** The members of the body that the client sent. */
function readBody({ provider, type, exchange, input }: Call): Members | Refusal {
  if (input.body === undefined && exchange.requestBody.kind === 'large') {
    return formatRefusal(type, refuseLargeBody('body-too-large', input.maxKept))
  }
  if (input.body === undefined || input.body.length === 0) return refuseFault(type, NO_BODY)
  // The coding of the client has already been removed; a policy has set this one.
  const coding = exchange.request.joined('content-encoding')
  if (coding !== undefined && coding !== 'identity') return refuse(type, 'content-coding-unsupported')
  const received = readMembers(input.body, provider.settings.members)
  return 'fault' in received ? refuseFault(type, received) : received
}

const NO_BODY: JsonFault = { fault: 'not-an-object', at: 0 }

/** A call to which the settings have been applied. */
interface SettledCall extends Call {
  /** Of the body after `defaults`, `overrides` and `transformations`. */
  readonly members: Members
  /** Further changes to `members`. */
  readonly edits: BodyEdits
  /** Members whose transformations failed. */
  readonly removedFields: readonly string[]
  readonly model: FinalModel
  readonly streaming: boolean
  /** The client asked for a stream, whatever the settings made of it. */
  readonly asksStream: boolean
  readonly conversion: Sending | { readonly kind: 'count' }
  /** The provider speaks the dialect of the client. */
  readonly isNative: boolean
  /** Only the gateway requested the usage chunk of the stream. */
  readonly hidesUsage: boolean
}

/** Applies the settings, chooses the model, and decides what the provider gets. */
function settle(call: Call, received: Members): SettledCall | Refusal {
  const { provider, type, exchange, input } = call
  const { settings } = provider
  const changed = settings.body && applyBodySettings(settings.body, received, exchange)
  const members = rescan(received, changed?.body)
  const modelAt = findMember(members, 'model')
  const given = modelAt < 0 ? undefined : stringAt(members, modelAt)
  const model = finalModel(provider, given)
  if (model === undefined) return refuseUnfit(type, 'llm-model-missing')

  const streaming = isStreamed(members)
  const conversion = provider.provider.convert(type, model.name, streaming)
  if (conversion.kind !== 'send' && conversion.kind !== 'count') return refuseConversion(call, conversion.kind)

  const format = FORMATS[type]
  const isNative = conversion.kind === 'count' || conversion.dialect === format.dialect
  const edits = new BodyEdits(members)
  if (model.replacement !== undefined && model.name !== given) edits.set('model', modelAt, model.replacement.json)
  const needs = {
    model: model.name,
    streaming,
    countsTokens: input.reads.tokens,
    movesMaxTokens: provider.provider.movesMaxTokens,
  }
  const hidesUsage = isNative && format.adapt?.(members, needs, edits) === true
  if (settings.prompt !== undefined && format.enrich?.(members, settings.prompt, edits) === false) {
    return refuse(type, 'llm-body-invalid', 'the request has no list of messages')
  }
  const asksStream = members === received ? streaming : isStreamed(received)
  const removedFields = changed?.removed ?? NONE
  return { ...call, members, edits, removedFields, model, streaming, asksStream, conversion, isNative, hidesUsage }
}

const NONE: readonly never[] = []

function refuseConversion({ type, provider }: Call, kind: 'unsupported' | 'model-unfit'): Refusal {
  switch (kind) {
    case 'unsupported':
      return refuseUnfit(type, 'llm-unsupported', `from ${type} to provider ${provider.provider.system}`)
    case 'model-unfit':
      return refuseUnfit(type, 'llm-body-invalid', 'the model name cannot be used')
  }
}

/** Guards see the request in its final form, with the configured messages. */
function guard({ provider, type, exchange, edits }: SettledCall): Uint8Array | Refusal | Promise<Uint8Array | Refusal> {
  const { guards } = provider.settings
  const body = edits.apply()
  if (guards === undefined || guards.request.length === 0) return body
  return andThen(guardRequest(guards, type, body, exchange), (final) => {
    exchange.recordedBody = final
    return final
  })
}

/** The body in the form that its provider accepts. */
interface WrittenRequest {
  readonly body: Uint8Array
  readonly translated: TranslatedRequest | undefined
}

/** Writes the body in the dialect of the provider. */
function convert(
  { provider, type, exchange, isNative, model }: SettledCall,
  conversion: Sending,
  final: Uint8Array,
): WrittenRequest | Refusal | Promise<WrittenRequest | Refusal> {
  const unfit = (written: WrittenRequest | Refusal): WrittenRequest | Refusal => {
    if (!isRefusal(written)) return written
    const detail = `${written.detail} (for ${provider.provider.system}, model ${model.name})`
    return { ...written, detail, endpointFault: 'unfit' }
  }
  if (isNative && conversion.edit === undefined && !mayHaveForeignThoughts(type, final)) {
    return { body: final, translated: undefined }
  }
  const writing = isNative ? rewrite(type, conversion, final) : translate(provider, type, conversion, final, exchange)
  const written = runForBody(final, writing)
  return written instanceof Promise ? written.then(unfit) : unfit(written)
}

function* rewrite(type: ClientFormat, { edit }: Sending, final: Uint8Array): Steps<WrittenRequest> {
  const body = yield* dropForeignThoughts(type, final)
  return { body: edit === undefined ? body : yield* edit(body), translated: undefined }
}

function* translate(
  { provider, destination, settings }: AiProviderPlan,
  type: ClientFormat,
  conversion: Sending,
  final: Uint8Array,
  { request }: Exchange,
): Steps<WrittenRequest | Refusal> {
  const { newLimit, host } = provider
  const target = {
    caching: settings.caching,
    newLimit: newLimit === 'everywhere' || (newLimit === 'at-own-host' && destination.host === host),
  }
  const translated = yield* translateInSteps(type, conversion, final, request, target)
  if (isRefusal(translated)) return translated
  const { edit } = conversion
  return { body: edit === undefined ? translated.body : yield* edit(translated.body), translated }
}

/** Adds the path, the headers, and how the response is read. */
function finish(
  call: SettledCall,
  conversion: Sending,
  final: Uint8Array,
  { body, translated }: WrittenRequest,
): PreparedLlmRequest {
  const { provider, type, exchange, input, asksStream, hidesUsage } = call
  const { request, originalTarget } = exchange
  // A platform that needs changed bodies does not accept the query of the messages API.
  const isForeign = translated !== undefined || conversion.edit !== undefined
  const path = upstreamPath(provider.path ?? conversion.path, request.target, isForeign ? originalTarget : undefined)
  const required = provider.provider.headers(request, provider.credential, path)
  const keepsKeys = provider.credential?.location === 'elsewhere'
  const headers = withoutEncoding(withBetas(ofJson(required, request), conversion, request), [
    ...(body === input.body ? NONE : DIGESTS.filter((name) => request.has(name))),
    ...(translated === undefined ? NONE : foreignFields(type, conversion.dialect, request, keepsKeys)),
  ])
  const kept = keptAnswer(input)
  const guards = isChatType(type) ? (provider.settings.guards?.response ?? NONE) : NONE
  const answered = { answer: kept, translation: translated?.facts, isGuarded: guards.length > 0 }
  const facts = buildFacts(provider, type, { ...sentFacts(call, final), ...answered })
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

function sentFacts(call: SettledCall, final: Uint8Array): Partial<LlmFacts> {
  const { provider, type, exchange, members, model, streaming, removedFields } = call
  const misread = misreadAt(provider, exchange)
  return { ...model.facts, streaming, request: new SentRequest(type, members, final), removedFields, misread }
}

function inForm(answer: AnswerTranslation, streamed: boolean): AnswerTranslation {
  return answer.kind === 'chat' && answer.streamed !== streamed ? { ...answer, streamed } : answer
}

/** Counts the tokens of the body that the provider would get. Nothing is sent, so nothing is guarded. */
function count(call: SettledCall): LocalCount | Refusal | Promise<LocalCount | Refusal> {
  const final = call.edits.apply()
  const facts = buildFacts(call.provider, call.type, sentFacts(call, final))
  return runForBody(final, countInSteps(call.type, final, facts))
}

function* countInSteps(type: ClientFormat, body: Uint8Array, facts: LlmFacts): Steps<LocalCount | Refusal> {
  const document = yield* parseInSteps(body)
  if ('fault' in document) return refuseFault(type, document)
  const { vocabulary } = modelOf(facts.requestModel)
  return { kind: 'count', prompt: yield* readCountablePrompt(document), vocabulary, facts }
}
