import { NO_TOKENS } from '#exchange/llm-facts.ts'
import type { AnswerSink, AnswerUsage, Citation } from '../../chat/answer-sink.ts'
import { STOP_REASONS } from '../../chat/stop-reasons.ts'
import { hourlyCacheWrites, totalOf } from '../../facts/usage-details.ts'
import { countAt, elementsOf, memberOf, textAt } from '../../json/read-value.ts'

/** @param holder of `usage` and `serviceTier` */
export function readUsage(holder: unknown, sink: AnswerSink): void {
  const usage = memberOf(holder, 'usage')
  if (usage === undefined) return
  const input = countAt(usage, 'inputTokens')
  const output = countAt(usage, 'outputTokens')
  const cacheRead = countAt(usage, 'cacheReadInputTokens')
  const cacheWrite = countAt(usage, 'cacheWriteInputTokens')
  const total = countAt(usage, 'totalTokens')
  // The provider's count excludes cached tokens; the gateway's includes them (decision B37).
  const whole = input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWrite ?? 0)
  sink.usage({
    ...NO_TOKENS,
    inputTokens: whole,
    outputTokens: output,
    totalTokens: totalOf(total, whole, output),
    providerInputTokens: input,
    providerTotalTokens: total,
    cachedInputTokens: cacheRead,
    cacheCreationInputTokens: cacheWrite,
    cacheCreation1hInputTokens: hourlyCacheWrites(usage),
    serviceTier: textAt(memberOf(holder, 'serviceTier'), 'type'),
  } satisfies AnswerUsage)
}

/** @param holder of `stopReason` and what the request asked for besides */
export function readStop(holder: unknown, sink: AnswerSink): void {
  const reason = textAt(holder, 'stopReason') ?? ''
  if (reason.startsWith('malformed_')) {
    const message = 'the model wrote something that the provider cannot read'
    return sink.fail({ status: 502, type: reason, message, code: undefined, param: undefined })
  }
  const sequence = textAt(memberOf(holder, 'additionalModelResponseFields'), 'stop_sequence')
  sink.finish(STOP_REASONS.converse.read(reason), sequence)
}

export function readCitation(citation: unknown): Citation {
  const texts = elementsOf(memberOf(citation, 'sourceContent')).map((content) => textAt(content, 'text') ?? '')
  const source = textAt(citation, 'source')
  const url = textAt(memberOf(memberOf(citation, 'location'), 'web'), 'url')
  return {
    url: url ?? (source !== undefined && /^https?:/.test(source) ? source : undefined),
    title: textAt(citation, 'title'),
    text: texts.length === 0 ? undefined : texts.join(''),
    start: undefined,
    end: undefined,
  }
}
