import { numberIn } from '#base/exact-json.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import { isCount } from '../../json/read-value.ts'

/** The response to a request that only counts tokens: the count is not usage. */
export function readTokenCount(_key: string, value: unknown, facts: LlmFacts): void {
  const count = numberIn(value)
  if (isCount(count)) facts.countTokens = count
}
