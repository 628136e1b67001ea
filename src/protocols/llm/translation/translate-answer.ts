import { sentSecret } from '#exchange/sent-secret.ts'
import { isEventStream, isFrameStream } from '#net/http/response-rules.ts'
import type { AnswerFilter } from '../../backend-protocol.ts'
import type { AnswerSurroundings } from './answer-surroundings.ts'
import { ChatAnswer } from './chat-answer.ts'
import { ErrorAnswer } from './error-answer.ts'
import { forgetBytes, translateHead } from './translate-head.ts'
import type { AnswerTranslation } from './translate-request.ts'
import { BodyAnswer, RefusedAnswer } from './whole-answer.ts'

/** Other statuses have no body, a part of one, or send the client to another place. */
const ANSWERED: ReadonlySet<number> = new Set([200, 201, 202, 203])

/**
 * Selects the filter that translates the response in `exchange.response`, and changes its head to that of what the client gets. The client
 * gets a stream if it asked for one, whatever the provider sent, and a whole answer otherwise.
 */
export function translateAnswer(plan: AnswerTranslation, around: AnswerSurroundings): AnswerFilter {
  const head = around.exchange.response!
  const { status } = head
  const isStream = isEventStream(head) || isFrameStream(head)
  const isError = status >= 400
  const streamed = plan.kind === 'chat' && plan.streamed && !isError
  forgetBytes(head)
  translateHead(plan.type, head, around.exchange.context.now())
  head.set('content-type', streamed ? 'text/event-stream' : 'application/json')
  if (isError) {
    return new ErrorAnswer({ type: plan.type, status, claim: around.claim, secret: sentSecret(around.exchange) })
  }
  if (!ANSWERED.has(status)) return new RefusedAnswer(plan, `unexpected status ${status}`)
  return plan.kind === 'chat' ? new ChatAnswer(plan, around, isStream) : new BodyAnswer(plan, around)
}
