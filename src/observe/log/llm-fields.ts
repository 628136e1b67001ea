import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { DefaultField } from './default-fields.ts'

/** Writes a field unless its value is unknown or the field is removed. */
export interface FieldWriter {
  text(name: DefaultField, value: string | undefined): void
  number(name: DefaultField, value: number | undefined): void
}

/** The fields of an LLM call, with the names of the OpenTelemetry conventions for generative AI. */
export function writeLlmFields(llm: LlmFacts, durationMs: number, to: FieldWriter): void {
  to.text('gen_ai.operation.name', llm.operation)
  to.text('gen_ai.provider.name', llm.provider)
  to.text('gen_ai.request.model', llm.requestModel)
  to.text('gen_ai.response.model', llm.responseModel)
  to.number('gen_ai.usage.input_tokens', llm.inputTokens)
  to.number('gen_ai.usage.output_tokens', llm.outputTokens)
  to.number('gen_ai.usage.cache_read.input_tokens', llm.cachedInputTokens)
  to.number('gen_ai.usage.cache_creation.input_tokens', llm.cacheCreationInputTokens)
  to.number('gen_ai.usage.reasoning_tokens', llm.reasoningTokens)
  to.number('gen_ai.usage.output_image_tokens', llm.outputImageTokens)
  to.number('gen_ai.usage.input_audio_tokens', llm.inputAudioTokens)
  to.number('gen_ai.usage.output_audio_tokens', llm.outputAudioTokens)
  if (llm.request !== undefined) writeParameters(llm.request, to)
  const { timeToFirstTokenMs, outputTokens } = llm
  if (timeToFirstTokenMs === undefined) return
  to.number('gatewright.ai.time_to_first_token', toSeconds(timeToFirstTokenMs))
  if (outputTokens === undefined || outputTokens === 0) return
  to.number('gatewright.ai.time_per_output_token', toSeconds((durationMs - timeToFirstTokenMs) / outputTokens))
}

function writeParameters(request: NonNullable<LlmFacts['request']>, to: FieldWriter): void {
  to.number('gen_ai.request.temperature', request.number('temperature'))
  to.number('gen_ai.request.top_p', request.number('top_p'))
  to.number('gen_ai.request.max_tokens', request.number('max_tokens'))
  to.number('gen_ai.request.frequency_penalty', request.number('frequency_penalty'))
  to.number('gen_ai.request.presence_penalty', request.number('presence_penalty'))
  to.number('gen_ai.request.seed', request.number('seed'))
  to.text('gen_ai.request.encoding_formats', request.text('encoding_format'))
  to.number('gen_ai.embeddings.dimension.count', request.number('dimensions'))
}

/** To the microsecond. */
function toSeconds(ms: number): number {
  return Math.round(ms * 1000) / 1_000_000
}
