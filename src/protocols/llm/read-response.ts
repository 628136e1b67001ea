import type { Exchange } from '#exchange/exchange.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { Head } from '#net/http1/head.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import { readCompletionsUsage } from './completions/response.ts'
import { CompletionsStream } from './completions/stream.ts'
import { DETECT_MEMBERS, DetectReader } from './detect/response.ts'
import { DetectStream } from './detect/stream.ts'
import { MemberReader } from './json/member-reader.ts'
import { JsonAnswer } from './json-answer.ts'
import { MessagesUsage } from './messages/response.ts'
import { MessagesStream } from './messages/stream.ts'
import type { ResponsePlan } from './prepare-request.ts'
import { readResponsesUsage } from './responses/response.ts'
import { ResponsesStream } from './responses/stream.ts'
import type { RouteType } from './route-type.ts'
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

const STREAMS: Partial<Record<RouteType, () => StreamFormat>> = {
  Completions: () => new CompletionsStream(),
  Messages: () => new MessagesStream(),
  Responses: () => new ResponsesStream(),
  Detect: () => new DetectStream(),
}

type ReadMember = (key: string, value: unknown, facts: LlmFacts) => void

/** Members of a buffered answer that are read, and by whom. */
const ANSWERS: Partial<Record<RouteType, { readonly members: readonly string[]; readonly reader: () => ReadMember }>> =
  {
    Completions: usageAnd(() => readCompletionsUsage),
    Embeddings: usageAnd(() => readCompletionsUsage),
    Responses: usageAnd(() => readResponsesUsage),
    Messages: usageAnd(() => {
      const usage = new MessagesUsage()
      return (value, facts) => usage.read(value, facts)
    }),
    Detect: {
      members: DETECT_MEMBERS,
      reader: () => {
        const detect = new DetectReader()
        return (key, value, facts) => detect.read({ [key]: value }, facts)
      },
    },
  }

function usageAnd(build: () => (usage: unknown, facts: LlmFacts) => void) {
  const reader = (): ReadMember => {
    const readUsage = build()
    return (key, value, facts) => {
      if (key === 'usage') readUsage(value, facts)
      else if (typeof value === 'string') facts.responseModel = value
    }
  }
  return { members: ['model', 'usage'], reader }
}

/**
 * How the answer in `exchange.response` is read while it passes; facts go to `exchange.llm`. Nothing of the exchange is kept but
 * the facts.
 * @returns undefined when there is nothing to read: another route type, an error answer, or a coding that hides the content
 */
export function observeResponse(plan: ResponsePlan, exchange: Exchange): AnswerFilter | undefined {
  const { llm: facts, response, startMonotonicMs } = exchange
  if (facts === undefined || response === undefined || !isReadable(response)) return undefined
  if (isEventStream(response)) {
    const build = STREAMS[plan.type]
    if (build === undefined) return undefined
    return observeStream(build(), { facts, hidesUsage: plan.hidesUsage, startMonotonicMs }, plan.type !== 'Detect')
  }
  const answer = ANSWERS[plan.type]
  if (answer === undefined) return undefined
  const into = (sink: BodySink) => {
    const read = answer.reader()
    return new JsonAnswer(sink, new MemberReader(answer.members, (key, value) => read(key, value, facts)))
  }
  return { changesLength: false, broken: undefined, into }
}

function observeStream(
  format: StreamFormat,
  options: Pick<StreamAnswerOptions, 'facts' | 'hidesUsage' | 'startMonotonicMs'>,
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

/** Error answers carry no usage; compressed ones come only from providers that ignore what was asked for. */
function isReadable(response: Head): boolean {
  if (response.status < 200 || response.status > 299) return false
  const coding = response.get('content-encoding')
  return coding === undefined || coding === 'identity'
}

function isEventStream(response: Head): boolean {
  return /^text\/event-stream(?:\s*;|\s*$)/i.test(response.get('content-type') ?? '')
}
