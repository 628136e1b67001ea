import type { LlmFacts } from '#exchange/llm-facts.ts'
import { countAt, objectAt } from '../json/read-value.ts'

/**
 * Token counts of a `usage` object as chat completions and embeddings have it; prompt counts include cached tokens
 * (decision B33).
 */
export function readCompletionsUsage(usage: unknown, facts: LlmFacts): void {
  const input = countAt(usage, 'prompt_tokens')
  const output = countAt(usage, 'completion_tokens')
  facts.inputTokens = input ?? facts.inputTokens
  facts.outputTokens = output ?? facts.outputTokens
  facts.totalTokens = countAt(usage, 'total_tokens') ?? sum(input, output) ?? facts.totalTokens
  const cached =
    countAt(usage, 'cache_read_input_tokens') ?? countAt(objectAt(usage, 'prompt_tokens_details'), 'cached_tokens')
  facts.cachedInputTokens = cached ?? facts.cachedInputTokens
  const reasoning = countAt(objectAt(usage, 'completion_tokens_details'), 'reasoning_tokens')
  facts.reasoningTokens = reasoning ?? facts.reasoningTokens
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other
}
