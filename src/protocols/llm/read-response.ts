import type { Exchange } from '#exchange/exchange.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { isEventStream } from '#net/http/response-rules.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import { answerReader, isReadable, STREAMS } from './answer-formats.ts'
import { JsonAnswer } from './json-answer.ts'
import type { ResponsePlan } from './prepare-request.ts'
import { StreamAnswer, type StreamAnswerOptions } from './stream-answer.ts'
import type { StreamFormat } from './stream-format.ts'

/** Stands between the answer of a provider and the client. */
export interface AnswerFilter {
  /** Bytes may be added or taken out: the answer cannot be sent with the length that the provider announced. */
  readonly changesLength: boolean
  /**
   * Set when the provider's stream broke off or stopped short: the client sees an error event and a clean end, but the attempt
   * failed.
   */
  broken: Abort | 'incomplete' | undefined
  /** The sink for the provider's answer; what it gets goes on to `sink`. */
  into(sink: BodySink): BodySink
}

/**
 * How the answer in `exchange.response` is read while it passes; facts go to `exchange.llm`. Nothing of the exchange is kept but
 * the facts.
 * @param claim memory for what has to be held meanwhile
 * @returns undefined when there is nothing to read: another route type, an error answer, or a coding that hides the content
 */
export function observeResponse(plan: ResponsePlan, exchange: Exchange, claim: BodyClaim): AnswerFilter | undefined {
  const { llm: facts, response, startMonotonicMs } = exchange
  if (facts === undefined || response === undefined || !isReadable(response)) return undefined
  plan.kept?.holdIn(claim)
  if (isEventStream(response)) {
    const build = STREAMS[plan.type]
    if (build === undefined) return undefined
    const { hidesUsage, kept } = plan
    return observeStream(build(), { facts, hidesUsage, kept, claim, startMonotonicMs }, plan.type !== 'Detect')
  }
  const reader = answerReader(plan, facts, claim)
  if (reader === undefined) return undefined
  return { changesLength: false, broken: undefined, into: (sink) => new JsonAnswer(sink, reader) }
}

function observeStream(
  format: StreamFormat,
  options: Pick<StreamAnswerOptions, 'facts' | 'hidesUsage' | 'kept' | 'claim' | 'startMonotonicMs'>,
  marksBreak: boolean,
): AnswerFilter {
  const filter: AnswerFilter = {
    changesLength: marksBreak,
    broken: undefined,
    into: (sink) => new StreamAnswer(sink, { ...options, format, marksBreak, onBreak }),
  }
  const onBreak = (why: Abort | 'incomplete') => {
    filter.broken = why
  }
  return filter
}
