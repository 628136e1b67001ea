import type { LlmFacts } from '#exchange/llm-facts.ts'

/** The response to a request that only counts tokens: the count is not usage. */
export function readTokenCount(_key: string, value: unknown, facts: LlmFacts): void {
  if (typeof value === 'number' && value >= 0) facts.countTokens = value
}
