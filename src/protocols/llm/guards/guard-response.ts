import type { Exchange } from '#exchange/exchange.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { isEventStream } from '#net/http/response-rules.ts'
import type { AnswerFilter } from '../../backend-protocol.ts'
import { isSuccess, keepAnswer, STREAMS } from '../answer/answer-formats.ts'
import type { ResponsePlan } from '../request/prepare-request.ts'
import { GuardedAnswer } from './guard-answer.ts'
import { isGuardedFormat } from './guarded-format.ts'
import { isErrorGuard } from './guarded-refusal.ts'
import { GuardedStream } from './stream/guarded-stream.ts'

/**
 * Puts the response guards behind the filter of a response: they see what the client would get, in its dialect.
 * @param inner reads and translates the response
 */
export function guardResponse(
  inner: AnswerFilter | undefined,
  { guards, kept, maxBytes, wire: format }: ResponsePlan,
  exchange: Exchange,
  claim: BodyClaim,
): AnswerFilter {
  const isError = !isSuccess(exchange.response!)
  if (!isGuardedFormat(format)) throw new Error(`responses of type ${format} have no guards`)
  const common = { guards: isError ? guards.filter(isErrorGuard) : guards, format, exchange, claim }
  const stream = STREAMS[format]
  if (stream !== undefined && isEventStream(exchange.response!)) {
    return new GuardedStream(inner, {
      ...common,
      stream: stream(),
      maxEventBytes: maxBytes,
      kept: isError ? undefined : kept,
    })
  }
  const keep = isError ? undefined : kept && ((body: Uint8Array) => keepAnswer(format, body, kept))
  return new GuardedAnswer(inner, { ...common, isError, maxBytes, keep })
}
