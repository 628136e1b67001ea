import type { LlmTokens } from '#exchange/llm-facts.ts'
import { noteCounts, readInputDetails, readOutputDetails } from '../../facts/usage-details.ts'
import { countAt, objectAt } from '../../json/read-value.ts'

/** Token counts of a `usage` object in chat completions and embeddings; prompt counts include cached tokens. */
export function readCompletionsUsage(usage: unknown, facts: LlmTokens): void {
  noteCounts(facts, {
    input: countAt(usage, 'prompt_tokens'),
    output: countAt(usage, 'completion_tokens'),
    total: countAt(usage, 'total_tokens'),
  })
  readInputDetails(objectAt(usage, 'prompt_tokens_details'), facts)
  readOutputDetails(objectAt(usage, 'completion_tokens_details'), facts)
  facts.cachedInputTokens = countAt(usage, 'cache_read_input_tokens') ?? facts.cachedInputTokens
  facts.cacheCreationInputTokens ??= countAt(usage, 'cache_creation_input_tokens')
}
