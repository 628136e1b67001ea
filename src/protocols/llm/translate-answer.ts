import { isEventStream, isFrameStream } from '#net/http/response-rules.ts'
import type { AnswerFilter } from '../backend-protocol.ts'
import type { AnswerSurroundings } from './answer-surroundings.ts'
import { ChatAnswer } from './chat-answer.ts'
import { translateHead } from './translate-head.ts'
import type { AnswerTranslation } from './translate-request.ts'
import { BodyAnswer, ErrorAnswer, RefusedAnswer } from './whole-answer.ts'

/**
 * Selects the filter that translates the response in `exchange.response`, and changes its head to that of what the client gets. The client
 * gets a stream if it asked for one, whatever the provider sent, and a whole answer otherwise.
 */
export function translateAnswer(plan: AnswerTranslation, around: AnswerSurroundings): AnswerFilter {
  const head = around.exchange.response!
  const coding = head.joined('content-encoding')
  const isStream = isEventStream(head) || isFrameStream(head)
  const isError = head.status < 200 || head.status > 299
  const streamed = plan.kind === 'chat' && plan.streamed && !isError
  head.remove('content-encoding')
  translateHead(plan.type, head)
  head.set('content-type', streamed ? 'text/event-stream' : 'application/json')
  if (coding !== undefined && coding !== 'identity') return new RefusedAnswer(plan, 'unsupported content encoding')
  if (isError) return new ErrorAnswer(plan.type, head.status, around.claim)
  return plan.kind === 'chat' ? new ChatAnswer(plan, around, isStream) : new BodyAnswer(plan, around)
}
