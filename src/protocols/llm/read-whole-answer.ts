import type { Exchange } from '#exchange/exchange.ts'
import { SseBlocks } from '../http/sse-blocks.ts'
import { ANSWERS, isEventStream, isReadable, STREAMS } from './answer-formats.ts'
import { MemberReader } from './json/member-reader.ts'
import type { ResponsePlan } from './prepare-request.ts'
import { dataStart, parseData } from './stream-block.ts'

/**
 * Takes facts from an answer that was buffered because a policy reads it: `exchange.responseBody`, into `exchange.llm`. Answers
 * that stream through are read by `observeResponse` instead.
 */
export function readWholeAnswer(plan: ResponsePlan, exchange: Exchange): void {
  const { llm: facts, response, responseBody } = exchange
  if (facts === undefined || response === undefined || responseBody == null || !isReadable(response)) return
  if (isEventStream(response)) {
    const format = STREAMS[plan.type]?.()
    if (format === undefined) return
    for (const event of readEvents(responseBody)) format.read(event, facts)
    return
  }
  const answer = ANSWERS[plan.type]
  if (answer === undefined) return
  const read = answer.reader()
  new MemberReader(answer.members, (key, value) => read(key, value, facts)).push(responseBody)
}

/** The JSON of all events. */
function* readEvents(body: Uint8Array): Generator<unknown> {
  const blocks = new SseBlocks()
  let start = 0
  for (let end = blocks.next(body, 0); end >= 0; end = blocks.next(body, start)) {
    const event = dataStart(body, start, end) < 0 ? undefined : parseData(body, start, end)
    if (event !== undefined) yield event
    start = end
  }
}
