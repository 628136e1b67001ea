import type { LlmFacts } from '#exchange/llm-facts.ts'
import { countAt, objectAt } from '../json/read-value.ts'
import { readInputDetails, readOutputDetails } from '../usage-details.ts'

/** Token counts of a `usage` object of the responses API; input counts include cached tokens. */
export function readResponsesUsage(usage: unknown, facts: LlmFacts): void {
  const input = countAt(usage, 'input_tokens')
  const output = countAt(usage, 'output_tokens')
  facts.inputTokens = input ?? facts.inputTokens
  facts.providerInputTokens = facts.inputTokens
  facts.outputTokens = output ?? facts.outputTokens
  const sum = input === undefined || output === undefined ? undefined : input + output
  facts.totalTokens = countAt(usage, 'total_tokens') ?? sum ?? facts.totalTokens
  facts.providerTotalTokens = facts.totalTokens
  readInputDetails(objectAt(usage, 'input_tokens_details'), facts)
  readOutputDetails(objectAt(usage, 'output_tokens_details'), facts)
}
