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
import { completionsForms } from '../completions/form-change.ts'
import { FrameAnswer } from '../detect/frame-answer.ts'
import type { Guard } from '../guards/guard.ts'
import { guardResponse } from '../guards/guard-response.ts'
import { isErrorGuard } from '../guards/guarded-refusal.ts'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import type { ObjectFault } from '../json/member-reader.ts'
import { findMember, type Members, scanMembers, valueAt } from '../json/scan-members.ts'
import { messagesForms } from '../messages/form-change.ts'
import type { ResponsePlan } from '../request/prepare-request.ts'
import { formatRefusal } from '../request/refuse.ts'
import type { ClientFormat } from '../request/route-type.ts'
import { responsesForms } from '../responses/form-change.ts'
import { ErrorAnswer } from '../translation/error-answer.ts'
import { translateAnswer } from '../translation/translate-answer.ts'
import { declareUtf8, forgetBytes, translateHead } from '../translation/translate-head.ts'
import { refuseAnswer } from '../translation/whole-answer.ts'
import { answerReader, isSuccess, STREAMS } from './answer-formats.ts'
import { NoSink } from './compressed-answer.ts'
import { CompressedFilter } from './compressed-filter.ts'
import { DecodedAnswer } from './decoded-answer.ts'
import { DecodedStream } from './decoded-stream.ts'
import type { FormChange, NativeRequest } from './form-change.ts'
import { JsonAnswer } from './json-answer.ts'
import { OtherForm } from './other-form.ts'
import { sampled } from './sampled.ts'
import { StreamAnswer, type StreamAnswerOptions } from './stream-answer.ts'
import { brokenStream, cutAnswer, noteError, type StreamError, unusableAnswer } from './stream-error.ts'
import type { StreamFormat } from './stream-format.ts'

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

/** Of errors, patterns check the texts. 304 has the headers of a body, and none. */
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
  const forms = native && FORMS[native.type]
  if (forms !== undefined && isOtherForm(native!, response)) {
    return observeOtherForm(plan, exchange, facts, native!, forms, tools)
  }
  const { translation } = plan
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
 * The filter for an error response of a provider that speaks the dialect of the client. What stands before the provider may answer in another
 * one, or in HTML.
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

/** Whether an answer has a form that the client did not ask for. Other types are no answers. */
function isOtherForm({ streamed }: NativeRequest, response: Head): boolean {
  return response.status === 200 && (streamed ? isJson(response) : isEventStream(response))
}

const FORMS: Partial<Record<ClientFormat, FormChange>> = {
  Completions: completionsForms,
  Messages: messagesForms,
  Responses: responsesForms,
}

/** The filter for an answer in the form that the client did not ask for. */
function observeOtherForm(
  plan: ResponsePlan,
  exchange: Exchange,
  facts: LlmFacts,
  { type, streamed, body }: NativeRequest,
  forms: FormChange,
  tools: ReadingTools,
): AnswerFilter {
  const { claim } = tools
  const { account, maxBytes } = plan
  const response = exchange.response!
  const [coding, isStream] = [codingOf(response), isAnyStream(response)]
  forgetBytes(response)
  response.set('content-type', streamed ? 'text/event-stream' : 'application/json')
  const includesUsage = type === 'Completions' && asksForUsage(body)
  const hidesUsage = type === 'Completions' && !includesUsage
  const form = new OtherForm({
    ...{ type, forms, streamed, includesUsage, claim, maxBytes },
    inner: observePlain({ ...plan, hidesUsage }, exchange, facts, claim, true)!,
    secret: () => sentSecret(exchange),
    whenOver: (stop) => exchange.context.whenOver(stop),
    facts,
  })
  const filter = account === undefined ? form : sampled(form, account, claim)
  if (coding === undefined) return filter
  const refusal = refuseAnswer({ type }, 502, UNREADABLE_CODING)
  return decoded(filter, { exchange, tools, coding, isStream, maxBytes, refusal })
}

/** @param body of the client */
function asksForUsage(body: Uint8Array): boolean {
  const members = scanMembers(body)
  const index = 'fault' in members ? -1 : findMember(members, 'stream_options')
  const options = index < 0 ? undefined : parseDocument(valueAt(members as Members, index))
  return options instanceof JsonValue && options.get('include_usage')?.isTrue === true
}

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
    const build = STREAMS[plan.wire]
    if (build === undefined) return undefined
    const { hidesUsage, kept } = plan
    const secret = marksBreak ? () => sentSecret(exchange) : undefined
    return observeStream(build(), { facts, hidesUsage, kept, claim, startMonotonicMs, secret }, marksBreak)
  }
  return observeJson(plan, facts, claim)
}

/** It has no first content: while another attempt may replace it, it is held to its end, and is not the answer if it is no JSON object. */
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

/** The client gets the very bytes: no event is removed from such a stream, and none is added. */
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
