import type { Exchange } from '#exchange/exchange.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { isEventStream } from '#net/http/response-rules.ts'
import type { AnswerFilter } from '../../backend-protocol.ts'
import { FORMATS, isChatType } from '../dialects/index.ts'
import { GuardedAnswer } from '../guards/guard-answer.ts'
import { isErrorGuard } from '../guards/guarded-refusal.ts'
import { GuardedStream } from '../guards/stream/guarded-stream.ts'
import { isSuccess, keepAnswer } from './answer-formats.ts'
import type { ResponsePlan } from './response-plan.ts'

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
  if (!isChatType(format)) throw new Error(`responses of type ${format} have no guards`)
  const common = { guards: isError ? guards.filter(isErrorGuard) : guards, format, exchange, claim }
  if (isEventStream(exchange.response!)) {
    return new GuardedStream(inner, {
      ...common,
      stream: FORMATS[format].stream(),
      maxEventBytes: maxBytes,
      kept: isError ? undefined : kept,
    })
  }
  const keep = isError ? undefined : kept && ((body: Uint8Array) => keepAnswer(format, body, kept))
  return new GuardedAnswer(inner, { ...common, isError, maxBytes, keep })
}
