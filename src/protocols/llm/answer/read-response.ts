import type { Exchange } from '#exchange/exchange.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { sentSecret } from '#exchange/sent-secret.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { ResponseDecoding } from '#net/body/response-decoding.ts'
import type { Head } from '#net/http/head.ts'
import { isEventStream, isFrameStream } from '#net/http/response-rules.ts'
import type { Abort } from '#net/stream.ts'
import type { AnswerFailure, AnswerFilter } from '../../backend-protocol.ts'
import { TargetNames } from '../chat/target-names.ts'
import { FrameAnswer } from '../detect/frame-answer.ts'
import { FORMATS, findTranslation, isChatType } from '../dialects/index.ts'
import { formatRefusal } from '../dialects/refuse.ts'
import { brokenStream, cutAnswer, noteError, type StreamError, unusableAnswer } from '../facts/stream-error.ts'
import type { StreamFormat } from '../facts/stream-format.ts'
import type { Guard } from '../guards/guard.ts'
import { isErrorGuard } from '../guards/guarded-refusal.ts'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import type { ObjectFault } from '../json/member-reader.ts'
import type { ClientFormat } from '../settings/route-type.ts'
import { ErrorAnswer } from '../translation/error-answer.ts'
import { translateAnswer } from '../translation/translate-answer.ts'
import { declareUtf8, forgetBytes, translateHead } from '../translation/translate-head.ts'
import type { ChatTranslation } from '../translation/translate-request.ts'
import { RefusedAnswer, refuseAnswer } from '../translation/whole-answer.ts'
import { answerReader, isSuccess, streamOf } from './answer-formats.ts'
import { NoSink } from './compressed-answer.ts'
import { CompressedFilter } from './compressed-filter.ts'
import { DecodedAnswer } from './decoded-answer.ts'
import { DecodedStream } from './decoded-stream.ts'
import { guardResponse } from './guard-response.ts'
import { JsonAnswer } from './json-answer.ts'
import type { NativeRequest, ResponsePlan } from './response-plan.ts'
import { sampled } from './sampled.ts'
import { StreamAnswer, type StreamAnswerOptions } from './stream-answer.ts'

/** What the filter of a response needs besides the exchange. */
export interface ReadingTools {
  /** Memory for bytes that the filter holds. */
  readonly claim: BodyClaim
  readonly decoding: ResponseDecoding
}

/**
 * Selects the filter that reads the response in `exchange.response` while it passes; facts go to `exchange.llm`. It keeps no other part of
 * the exchange.
 * @returns undefined if there is nothing to translate or to read
 */
export function observeResponse(plan: ResponsePlan, exchange: Exchange, tools: ReadingTools): AnswerFilter | undefined {
  const { guards, kept } = plan
  const response = exchange.response!
  if (!isSuccess(response)) sentSecret(exchange)?.hideInHead(response)
  if (!isGuarded(response, guards)) return readResponse(plan, exchange, tools)
  // What expressions read is what the client gets.
  kept?.areValidFor(tools.claim)
  const coding = plan.translation === undefined ? codingOf(response) : undefined
  const isStream = isAnyStream(response)
  if (plan.translation === undefined) forgetBytes(response)
  const inner = readResponse({ ...plan, kept: undefined }, exchange, tools)
  const guarded = guardResponse(inner, plan, exchange, tools.claim)
  declareUtf8(response)
  if (coding === undefined) return guarded
  const refusal = formatRefusal(plan.wire, reject('llm-response-invalid', { detail: UNREADABLE_CODING }))
  return decoded(guarded, { exchange, tools, coding, isStream, maxBytes: plan.maxBytes, refusal })
}

/** Patterns check errors, too. A 304 has headers of a body, but no body. */
function isGuarded(response: Head, guards: readonly Guard[]): boolean {
  if (isSuccess(response)) return guards.length > 0
  return response.status !== 304 && guards.some(isErrorGuard)
}

const UNREADABLE_CODING = 'unknown or damaged content coding'

function readResponse(plan: ResponsePlan, exchange: Exchange, tools: ReadingTools): AnswerFilter | undefined {
  const { llm: facts } = exchange
  if (facts === undefined) return undefined
  const response = exchange.response!
  const { claim } = tools
  const { kept, maxBytes, account, native } = plan
  kept?.areValidFor(claim)
  const isOther = native !== undefined && isOtherForm(native, response)
  const translation = isOther ? otherForm(native, facts) : plan.translation
  if (isOther && translation === undefined) return new RefusedAnswer(native, OTHER_FORM)
  if (translation !== undefined) {
    const coding = codingOf(response)
    const isStream = isAnyStream(response)
    const translated = translateAnswer(translation, { exchange, facts, kept, claim, maxBytes })
    const filter = isSuccess(response) && account !== undefined ? sampled(translated, account, claim) : translated
    if (coding === undefined) return filter
    const refusal = isSuccess(response) ? refuseAnswer(translation, 502, UNREADABLE_CODING) : undefined
    return decoded(filter, { exchange, tools, coding, isStream, maxBytes, refusal })
  }
  if (!isSuccess(response)) return native && observeError(native.type, exchange, tools, maxBytes)
  const coding = codingOf(response)
  if (coding !== undefined) return observeCompressed(plan, exchange, coding, tools)
  if (plan.wire === 'Detect' && isFrameStream(response)) return observeFrames(plan, exchange, facts, claim)
  const filter = observePlain(plan, exchange, facts, claim, plan.wire !== 'Detect')
  return filter === undefined || account === undefined ? filter : sampled(filter, account, claim)
}

/**
 * The filter for an error response of a provider that speaks the dialect of the client. A server in front of the provider may respond in
 * another dialect, or in HTML.
 */
export function observeError(
  type: ClientFormat,
  exchange: Exchange,
  tools: ReadingTools,
  maxBytes: number,
): AnswerFilter | undefined {
  const response = exchange.response!
  if (response.status < 400) return undefined
  const { claim } = tools
  const coding = codingOf(response)
  const isStream = isAnyStream(response)
  forgetBytes(response)
  translateHead(type, response, exchange.context.now())
  if (isJson(response)) declareUtf8(response)
  else response.set('content-type', 'application/json')
  const secret = sentSecret(exchange)
  const filter = new ErrorAnswer({ type, status: response.status, claim, secret, maxNative: maxBytes })
  if (coding === undefined) return filter
  return decoded(filter, { exchange, tools, coding, isStream, maxBytes, refusal: undefined })
}

const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i

/** Whether a chat was answered with a stream instead of a whole answer, or the reverse. Other content types count as neither. */
function isOtherForm({ type, streamed }: NativeRequest, response: Head): boolean {
  if (response.status !== 200 || !isChatType(type)) return false
  return streamed ? isJson(response) : isEventStream(response)
}

const OTHER_FORM = 'the provider sent a stream instead of a whole answer, or the reverse'

function isJson(response: Head): boolean {
  return JSON_TYPE.test(response.joined('content-type') ?? '')
}

interface Decoded {
  readonly exchange: Exchange
  readonly tools: ReadingTools
  readonly coding: string
  /** Of the provider; the client may get another form. */
  readonly isStream: boolean
  readonly maxBytes: number
  readonly refusal: Refusal | undefined
}

/** The filter for a compressed response. A stream is decoded as it arrives, anything else as a whole. */
function decoded(filter: AnswerFilter, options: Decoded): AnswerFilter {
  const { exchange, tools, coding, isStream, maxBytes, refusal } = options
  const { claim, decoding } = tools
  const wrap = isStream ? decoding.into(coding) : undefined
  if (wrap === undefined)
    return new DecodedAnswer(filter, { claim, decode: decoding.received, coding, maxBytes, refusal })
  return new DecodedStream(filter, { wrap, context: exchange.context, refusal })
}

function isAnyStream(response: Head): boolean {
  return isEventStream(response) || isFrameStream(response)
}

/** Undefined: the body is not compressed. */
function codingOf(response: Head): string | undefined {
  const coding = response.joined('content-encoding')
  return coding?.toLowerCase() === 'identity' ? undefined : coding
}

function observePlain(
  plan: ResponsePlan,
  exchange: Exchange,
  facts: LlmFacts,
  claim: BodyClaim,
  marksBreak: boolean,
): AnswerFilter | undefined {
  const { response, startMonotonicMs } = exchange
  if (isEventStream(response!)) {
    const stream = streamOf(plan.wire)
    if (stream === undefined) return undefined
    const { hidesUsage, kept } = plan
    const secret = marksBreak ? () => sentSecret(exchange) : undefined
    return observeStream(stream, { facts, hidesUsage, kept, claim, startMonotonicMs, secret }, marksBreak)
  }
  return observeJson(plan, facts, claim)
}

/** A whole answer has no first content: while another attempt may replace it, it is held to its end. It fails if it is no JSON object. */
function observeJson(plan: ResponsePlan, facts: LlmFacts, claim: BodyClaim): AnswerFilter | undefined {
  const reader = answerReader(plan, facts, claim, (error) => {
    filter.failure = noteError(error, facts)
  })
  if (reader === undefined) return undefined
  const onFault = (fault: ObjectFault) => {
    facts.errorType = fault === 'no-object' ? 'llm-response-invalid' : 'incomplete'
    filter.failure = fault === 'no-object' ? unusableAnswer('no JSON object') : cutAnswer(fault)
  }
  const filter: MutableFilter = {
    changesLength: false,
    whenBegun: () => {},
    into: (sink) => new JsonAnswer(sink, reader, plan.wire === 'Detect' ? undefined : onFault),
  }
  return filter
}

function observeFrames(
  { kept, maxBytes, account }: ResponsePlan,
  { startMonotonicMs }: Exchange,
  facts: LlmFacts,
  claim: BodyClaim,
): AnswerFilter {
  const filter: MutableFilter = {
    changesLength: false,
    into: (sink) => {
      const seen = account?.sample(new NoSink(), claim)
      return new FrameAnswer(sink, { facts, kept, claim, maxBytes, startMonotonicMs, seen, onError })
    },
  }
  const onError = (error: StreamError) => {
    filter.failure = noteError(error, facts)
  }
  return filter
}

type MutableFilter = { -readonly [K in keyof AnswerFilter]: AnswerFilter[K] }

/** Forwards the bytes unchanged: no event of the stream is removed or added. */
function observeCompressed(
  plan: ResponsePlan,
  exchange: Exchange,
  coding: string,
  { claim, decoding }: ReadingTools,
): AnswerFilter | undefined {
  const { account, wire } = plan
  const plain = observePlain(plan, exchange, exchange.llm!, claim, wire !== 'Detect')
  if (plain === undefined) return undefined
  const awaitsContent = isEventStream(exchange.response!)
  return new CompressedFilter(plain, { coding, claim, decode: decoding.received, account, awaitsContent })
}

function observeStream(
  format: StreamFormat,
  options: Pick<StreamAnswerOptions, 'facts' | 'hidesUsage' | 'kept' | 'claim' | 'startMonotonicMs' | 'secret'>,
  marksBreak: boolean,
): AnswerFilter {
  const { facts } = options
  let begun: (() => void) | undefined
  const fail = (failure: AnswerFailure) => {
    filter.failure = failure
    begun?.()
  }
  const onBreak = (why: Abort | 'incomplete') => {
    facts.errorType = why
    fail(brokenStream(why))
  }
  const onError = (error: StreamError) => fail(noteError(error, facts))
  const onOutput = () => begun?.()
  const filter: MutableFilter = {
    changesLength: marksBreak,
    whenBegun: (registered) => {
      begun = registered
    },
    into: (sink) => new StreamAnswer(sink, { ...options, format, marksBreak, onBreak, onError, onOutput }),
  }
  return filter
}

/**
 * The translation of a stream into the whole answer that the client asked for, or the reverse, within one dialect. Members that the neutral form does
 * not have are lost, and recorded as a loss.
 * @returns undefined: the gateway does not read answers of this dialect, or the neutral form does not hold the choices that were asked for
 */
function otherForm({ type, streamed, body }: NativeRequest, facts: LlmFacts): ChatTranslation | undefined {
  const found = findTranslation(type, FORMATS[type].dialect)
  const request = parseDocument(body)
  if (found?.kind !== 'chat' || !(request instanceof JsonValue) || (request.get('n')?.count ?? 1) > 1) return undefined
  const { client: to, provider: from, dialect: provider } = found
  facts.translation = { from: provider, to: provider, dropped: [LOST] }
  const model = facts.requestModel
  return { kind: 'chat', type, from, provider, to, streamed, request, model, names: new TargetNames([]) }
}

const LOST = 'unknown members of the answer (it came in the form that was not asked for)'
