import type { Exchange } from '#exchange/exchange.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { isEventStream } from '#net/http/response-rules.ts'
import type { Abort } from '#net/stream.ts'
import type { AnswerFilter } from '../backend-protocol.ts'
import { answerReader, isReadable, STREAMS } from './answer-formats.ts'
import { JsonAnswer } from './json-answer.ts'
import type { ResponsePlan } from './prepare-request.ts'
import { StreamAnswer, type StreamAnswerOptions } from './stream-answer.ts'
import { brokenStream, reportedError, type StreamError } from './stream-error.ts'
import type { StreamFormat } from './stream-format.ts'
import { translateAnswer } from './translate-answer.ts'

/**
 * Selects the filter that reads the response in `exchange.response` while it passes; facts go to `exchange.llm`. It keeps no other part of
 * the exchange.
 * @param claim memory for bytes that the filter holds
 * @returns undefined if there is nothing to translate or to read: another route type, an error response, or a content coding
 */
export function observeResponse(plan: ResponsePlan, exchange: Exchange, claim: BodyClaim): AnswerFilter | undefined {
  const { llm: facts, response, startMonotonicMs } = exchange
  if (facts === undefined || response === undefined) return undefined
  plan.kept?.areValidFor(claim)
  const { translation, kept, maxBytes } = plan
  if (translation !== undefined) return translateAnswer(translation, { exchange, facts, kept, claim, maxBytes })
  if (!isReadable(response)) return undefined
  if (isEventStream(response)) {
    const build = STREAMS[plan.wire]
    if (build === undefined) return undefined
    const { hidesUsage } = plan
    return observeStream(build(), { facts, hidesUsage, kept, claim, startMonotonicMs }, plan.wire !== 'Detect')
  }
  const reader = answerReader(plan, facts, claim)
  if (reader === undefined) return undefined
  return { changesLength: false, into: (sink) => new JsonAnswer(sink, reader) }
}

function observeStream(
  format: StreamFormat,
  options: Pick<StreamAnswerOptions, 'facts' | 'hidesUsage' | 'kept' | 'claim' | 'startMonotonicMs'>,
  marksBreak: boolean,
): AnswerFilter {
  const filter: { -readonly [K in keyof AnswerFilter]: AnswerFilter[K] } = {
    changesLength: marksBreak,
    into: (sink) => new StreamAnswer(sink, { ...options, format, marksBreak, onBreak, onError }),
  }
  const { facts } = options
  const onBreak = (why: Abort | 'incomplete') => {
    facts.errorType = why
    filter.failure = brokenStream(why)
  }
  const onError = (error: StreamError) => {
    facts.errorType = error.type
    filter.failure = reportedError(error)
  }
  return filter
}
