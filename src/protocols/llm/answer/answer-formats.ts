import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { Head } from '#net/http/head.ts'
import { DETECTED_ANSWER } from '../detect/response.ts'
import { DetectStream } from '../detect/stream.ts'
import { formatOf } from '../dialects/index.ts'
import type { AnswerFormat } from '../facts/answer-format.ts'
import type { KeptAnswer } from '../facts/kept-answer.ts'
import { classifyError, type StreamError } from '../facts/stream-error.ts'
import type { StreamFormat } from '../facts/stream-format.ts'
import { MemberReader } from '../json/member-reader.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import type { ResponsePlan } from './response-plan.ts'

/** @returns undefined: the events of such a stream are not read */
export function streamOf(wire: RouteType): StreamFormat | undefined {
  return wire === 'Detect' ? new DetectStream() : formatOf(wire)?.stream?.()
}

function answerOf(wire: RouteType): AnswerFormat | undefined {
  return wire === 'Detect' ? DETECTED_ANSWER : formatOf(wire)?.answer
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
  const format = answerOf(wire)
  if (format === undefined) return undefined
  const read = factReader(format, facts, onError)
  if (kept === undefined) return new MemberReader(format.facts, read, { claim })
  const found = (key: string, value: unknown) => {
    const output = format.outputs[key]
    if (output === undefined) return read(key, value)
    output.keep(value, kept)
    output.note?.(value, facts)
  }
  return new MemberReader(format.factsAndOutput, found, { maxBytes: kept.maxLength, claim, exact: true })
}

/** Keeps the output of the model in a whole answer. */
export function keepAnswer(wire: RouteType, body: Uint8Array, kept: KeptAnswer): void {
  const format = answerOf(wire)
  if (format === undefined) return
  const found = (key: string, value: unknown) => format.outputs[key]!.keep(value, kept)
  new MemberReader(format.output, found, { maxBytes: kept.maxLength, exact: true }).push(body)
}

/** Error responses have no usage. */
export function isSuccess({ status }: Head): boolean {
  return status >= 200 && status <= 299
}
