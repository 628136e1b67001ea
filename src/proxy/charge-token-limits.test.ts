import { expect, test, vi } from 'vitest'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { chargeTokenLimits } from './charge-token-limits.ts'

test.each([
  [0, undefined, []],
  [0, 7, [[7]]],
  [5, undefined, [[5]]],
  [5, 7, [[12]]],
])('failed attempts used %i tokens, the last one %s: charged %j', (failedTokens, totalTokens, charged) => {
  const drain = vi.fn()
  const exchange = exchangeWith()
  exchange.tokenLimits = [{ drain }] as never
  exchange.failedTokens = failedTokens
  if (totalTokens !== undefined) exchange.llm = { ...NO_LLM, totalTokens }
  chargeTokenLimits(exchange)
  expect(drain.mock.calls).toEqual(charged)
})
