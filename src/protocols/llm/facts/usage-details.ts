import type { LlmTokens } from '#exchange/llm-facts.ts'
import { countAt, memberOf, textAt } from '../json/read-value.ts'

/**
 * The tokens that limits are charged with: those of input and output (specification 2, 2.2.8). A total that a provider reports may have more, such
 * as thoughts that its count of output lacks, but does not make them fewer. @returns undefined: not enough is known
 */
export function totalOf(
  reported: number | undefined,
  input: number | undefined,
  output: number | undefined,
): number | undefined {
  if (reported === undefined && (input === undefined || output === undefined)) return undefined
  return Math.max(reported ?? 0, (input ?? 0) + (output ?? 0))
}

/** Notes the counts of an API whose input includes cached tokens; absent counts keep their value. */
export function noteCounts(
  facts: LlmTokens,
  { input, output, total }: Readonly<Record<'input' | 'output' | 'total', number | undefined>>,
): void {
  facts.inputTokens = input ?? facts.inputTokens
  facts.providerInputTokens = facts.inputTokens
  facts.outputTokens = output ?? facts.outputTokens
  facts.providerTotalTokens = total ?? totalOf(undefined, input, output) ?? facts.providerTotalTokens
  facts.totalTokens = totalOf(facts.providerTotalTokens, facts.inputTokens, facts.outputTokens)
}

/** The details of input tokens in chat completions and responses; absent counts keep their value. */
export function readInputDetails(details: unknown, facts: LlmTokens): void {
  facts.cachedInputTokens = countAt(details, 'cached_tokens') ?? facts.cachedInputTokens
  facts.cacheCreationInputTokens = countAt(details, 'cache_write_tokens') ?? facts.cacheCreationInputTokens
  facts.inputTextTokens = countAt(details, 'text_tokens') ?? facts.inputTextTokens
  facts.inputImageTokens = countAt(details, 'image_tokens') ?? facts.inputImageTokens
  facts.inputAudioTokens = countAt(details, 'audio_tokens') ?? facts.inputAudioTokens
}

/** The same for output tokens. */
export function readOutputDetails(details: unknown, facts: LlmTokens): void {
  facts.reasoningTokens = countAt(details, 'reasoning_tokens') ?? facts.reasoningTokens
  facts.outputTextTokens = countAt(details, 'text_tokens') ?? facts.outputTextTokens
  facts.outputImageTokens = countAt(details, 'image_tokens') ?? facts.outputImageTokens
  facts.outputAudioTokens = countAt(details, 'audio_tokens') ?? facts.outputAudioTokens
}

/** Tokens that the cache keeps for an hour, in the `usage` of Converse, which counts writes by that time; undefined if it does not. */
export function hourlyCacheWrites(usage: unknown): number | undefined {
  const details = memberOf(usage, 'cacheDetails')
  if (!Array.isArray(details)) return undefined
  const hourly = details.filter((each) => textAt(each, 'ttl') === '1h')
  return hourly.reduce((sum, each) => sum + (countAt(each, 'inputTokens') ?? 0), 0)
}
