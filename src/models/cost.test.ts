import { expect, test } from 'vitest'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { costAt, ratesFor } from './cost.ts'
import type { PriceCard } from './price-table.ts'

/** In nano-dollars. */
function costOf(card: PriceCard, usage: Partial<LlmFacts>) {
  return costAt(ratesFor(card, usage.inputTokens ?? 0, 1), { ...NO_LLM, operation: 'chat', ...usage })
}

test('the cost of output is known if only output was counted', () => {
  expect(costOf({ input: 1, output: 1 }, { outputTokens: 3 })).toEqual({ output: 3000 })
})

test('a single token without a price makes the cost unknown', () => {
  const card: PriceCard = { input: 1, outputReasoning: 2 }
  expect(costOf(card, { inputTokens: 1, outputTokens: 2, reasoningTokens: 2 })?.output).toBe(4000)
  expect(costOf(card, { inputTokens: 1, outputTokens: 2, reasoningTokens: 1 })?.output).toBeUndefined()
})
