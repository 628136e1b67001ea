import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { Head } from '#net/http/head.ts'
import { keepChoices } from '../completions/keep-answer.ts'
import { readCompletionsUsage } from '../completions/response.ts'
import { CompletionsStream } from '../completions/stream.ts'
import { DETECT_PATHS, DetectReader } from '../detect/response.ts'
import { DetectStream } from '../detect/stream.ts'
import { MemberReader, type WantedMembers, wantedMembers } from '../json/member-reader.ts'
import { elementsOf, memberOf } from '../json/read-value.ts'
import { keepBlocks } from '../messages/keep-answer.ts'
import { MessagesUsage } from '../messages/response.ts'
import { MessagesStream } from '../messages/stream.ts'
import { readTokenCount } from '../messages/token-count.ts'
import type { RouteType } from '../policy-schema.ts'
import type { ResponsePlan } from '../request/prepare-request.ts'
import { keepItems } from '../responses/keep-answer.ts'
import { noteIncomplete, noteStatus, readResponsesUsage } from '../responses/response.ts'
import { ResponsesStream } from '../responses/stream.ts'
import { noteFinish } from './finish-reasons.ts'
import type { KeptAnswer } from './kept-answer.ts'
import { noteNames, noteTier } from './note-names.ts'
import { classifyError, type StreamError } from './stream-error.ts'
import type { StreamFormat } from './stream-format.ts'

/** Formats of event streams. */
export const STREAMS: Partial<Record<RouteType, () => StreamFormat>> = {
  Completions: () => new CompletionsStream(),
  Messages: () => new MessagesStream(),
  Responses: () => new ResponsesStream(),
  Detect: () => new DetectStream(),
}

/** A JSON response format. */
interface AnswerFormat {
  /** Members with facts. */
  readonly facts: WantedMembers
  /** Members with output of the model. */
  readonly texts: WantedMembers
  /** Both; choices are read whole. */
  readonly factsAndTexts: WantedMembers
  readonly reader: () => ReadMember
}

type ReadMember = (key: string, value: unknown, facts: LlmFacts) => void

/** Each function belongs to one dialect. */
const KEEP = { choices: keepChoices, content: keepBlocks, output: keepItems }
type TextMember = keyof typeof KEEP

/** It is in the object of a choice, which can be large. */
const CHOICE_FINISH = 'choices[].finish_reason'

const ANSWERS: Partial<Record<RouteType, AnswerFormat>> = {
  Completions: usageAnd(() => readCompletionsUsage, ['choices'], { [CHOICE_FINISH]: noteFinish }),
  Embeddings: usageAnd(() => readCompletionsUsage, [], {}),
  Responses: usageAnd(() => readResponsesUsage, ['output'], {
    status: noteStatus,
    'incomplete_details.reason': noteIncomplete,
  }),
  Messages: usageAnd(
    () => {
      const usage = new MessagesUsage()
      return (value, facts) => usage.read(value, facts)
    },
    ['content'],
    { stop_reason: noteFinish },
  ),
  MessagesTokenCount: answerFormat(['input_tokens'], [], () => readTokenCount),
  Detect: answerFormat(DETECT_PATHS, ['choices', 'content', 'output'], () => {
    const detect = new DetectReader()
    return (key, value, facts) => detect.readMember(key, value, facts)
  }),
}

function answerFormat(
  facts: readonly string[],
  texts: readonly TextMember[],
  reader: AnswerFormat['reader'],
): AnswerFormat {
  const besideChoices = facts.filter((path) => path !== CHOICE_FINISH)
  return {
    facts: wantedMembers(facts),
    texts: wantedMembers(texts),
    factsAndTexts: wantedMembers([...besideChoices, ...texts]),
    reader,
  }
}

type ReadFact = (value: unknown, facts: LlmFacts) => void

/** @param finish readers of the members that say why the model stopped */
function usageAnd(
  build: () => ReadFact,
  texts: readonly TextMember[],
  finish: Readonly<Record<string, ReadFact>>,
): AnswerFormat {
  const reader = (): ReadMember => {
    const readUsage = build()
    return (key, value, facts) => {
      if (key === 'usage') return readUsage(value, facts)
      if (Object.hasOwn(finish, key)) return finish[key]!(value, facts)
      if (typeof value !== 'string') return
      if (key === 'id') noteNames(value, undefined, facts)
      if (key === 'model') noteNames(undefined, value, facts)
      if (key === 'service_tier') noteTier(value, facts)
    }
  }
  return answerFormat(['id', 'model', 'usage', 'service_tier', 'error', ...Object.keys(finish)], texts, reader)
}

/** Reads everything but texts. */
function factReader(format: AnswerFormat, facts: LlmFacts, onError: (error: StreamError) => void): FoundMember {
  const read = format.reader()
  return (key, value) => {
    if (key !== 'error') read(key, value, facts)
    else if (value) onError(classifyError(value))
  }
}

type FoundMember = (key: string, value: unknown) => void

/**
 * A reader of a JSON response; facts and texts go to the given objects.
 * @param onError called for an error that the provider reports in a successful response
 * @returns undefined if there is nothing to read
 */
export function answerReader(
  { wire, kept }: ResponsePlan,
  facts: LlmFacts,
  claim: BodyClaim,
  onError: (error: StreamError) => void,
): MemberReader | undefined {
  const format = ANSWERS[wire]
  if (format === undefined) return undefined
  const read = factReader(format, facts, onError)
  if (kept === undefined) return new MemberReader(format.facts, read, { claim })
  const found = (key: string, value: unknown) => {
    if (!isTextMember(key)) return read(key, value)
    KEEP[key](value, kept)
    if (key === 'choices') for (const each of elementsOf(value)) noteFinish(memberOf(each, 'finish_reason'), facts)
  }
  return new MemberReader(format.factsAndTexts, found, { maxBytes: kept.maxLength, claim, exact: true })
}

/** Keeps the output of the model in a whole answer. */
export function keepAnswer(wire: RouteType, body: Uint8Array, kept: KeptAnswer): void {
  const found = (key: string, value: unknown) => KEEP[key as TextMember](value, kept)
  const format = ANSWERS[wire]
  if (format !== undefined) new MemberReader(format.texts, found, { maxBytes: kept.maxLength, exact: true }).push(body)
}

function isTextMember(key: string): key is TextMember {
  return Object.hasOwn(KEEP, key)
}

/** Error responses have no usage. */
export function isSuccess({ status }: Head): boolean {
  return status >= 200 && status <= 299
}
