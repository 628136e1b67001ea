import type { Exchange } from '#exchange/exchange.ts'
import { isEventStream } from '#net/http/response-rules.ts'
import { SseBlocks } from '../http/sse-blocks.ts'
import { answerReader, isReadable, STREAMS } from './answer-formats.ts'
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
    for (const event of readEvents(responseBody)) {
      if (plan.kept !== undefined) format.keep(event, plan.kept)
      format.read(event, facts)
    }
    return
  }
  answerReader(plan, facts)?.push(responseBody)
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
