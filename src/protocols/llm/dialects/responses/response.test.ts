import { expect, test } from 'vitest'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { readResponsesUsage } from './response.ts'

function factsOf(...usages: readonly object[]): Partial<LlmFacts> {
  const facts = { ...NO_LLM }
  for (const usage of usages) readResponsesUsage(usage, facts)
  const { inputTokens, outputTokens, totalTokens, cachedInputTokens, reasoningTokens } = facts
  return { inputTokens, outputTokens, totalTokens, cachedInputTokens, reasoningTokens }
}

test('counts with their details', () => {
  const usage = {
    ...{ input_tokens: 30, input_tokens_details: { cached_tokens: 7 }, output_tokens: 9, total_tokens: 39 },
    output_tokens_details: { reasoning_tokens: 4 },
  }
  const counts = { inputTokens: 30, outputTokens: 9, totalTokens: 39, cachedInputTokens: 7, reasoningTokens: 4 }
  expect(factsOf(usage)).toEqual(counts)
  // A later usage without details, or with counts that are none, changes nothing else.
  expect(factsOf(usage, { input_tokens: -1, output_tokens: '8' })).toEqual(counts)
  expect(factsOf(usage, { output_tokens: 11, total_tokens: 41 })).toEqual({
    ...counts,
    outputTokens: 11,
    totalTokens: 41,
  })
})

test('the total is the sum of both counts, and unknown if one is', () => {
  expect(factsOf({ input_tokens: 3, output_tokens: 4 }).totalTokens).toBe(7)
  expect(factsOf({ input_tokens: 3 }).totalTokens).toBeUndefined()
  expect(factsOf({ output_tokens: 4 }).totalTokens).toBeUndefined()
})
