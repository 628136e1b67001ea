import type { LlmTokens } from '#exchange/llm-facts.ts'
import { readInputDetails, readOutputDetails, totalOf } from '../answer/usage-details.ts'
import { countAt, objectAt } from '../json/read-value.ts'

/** Token counts of a `usage` object in chat completions and embeddings; prompt counts include cached tokens (decision B33). */
export function readCompletionsUsage(usage: unknown, facts: LlmTokens): void {
  const input = countAt(usage, 'prompt_tokens')
  const output = countAt(usage, 'completion_tokens')
  facts.inputTokens = input ?? facts.inputTokens
  facts.providerInputTokens = facts.inputTokens
  facts.outputTokens = output ?? facts.outputTokens
  facts.providerTotalTokens =
    countAt(usage, 'total_tokens') ?? totalOf(undefined, input, output) ?? facts.providerTotalTokens
  facts.totalTokens = totalOf(facts.providerTotalTokens, facts.inputTokens, facts.outputTokens)
  readInputDetails(objectAt(usage, 'prompt_tokens_details'), facts)
  readOutputDetails(objectAt(usage, 'completion_tokens_details'), facts)
  facts.cachedInputTokens = countAt(usage, 'cache_read_input_tokens') ?? facts.cachedInputTokens
  facts.cacheCreationInputTokens ??= countAt(usage, 'cache_creation_input_tokens')
}
