import type { LlmFacts } from '#exchange/llm-facts.ts'

/** The answer to a request that only asks for the number of its tokens: that is no usage. */
export function readTokenCount(_key: string, value: unknown, facts: LlmFacts): void {
  if (typeof value === 'number' && value >= 0) facts.countTokens = value
}
