import { expect, test, vi } from 'vitest'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { chargeTokens } from '#policies/traffic/rate-limit/index.ts'
import { chargeTokenLimits } from './charge-token-limits.ts'

vi.mock('#policies/traffic/rate-limit/index.ts')

test.each([
  [0, undefined, []],
  [0, 7, [7]],
  [5, undefined, [5]],
  [5, 7, [12]],
])('failed attempts used %i tokens, the last one %s: charged %j', (failedTokens, totalTokens, charged) => {
  vi.mocked(chargeTokens).mockClear()
  const exchange = exchangeWith()
  exchange.failedTokens = failedTokens
  if (totalTokens !== undefined) exchange.llm = { ...NO_LLM, totalTokens }
  chargeTokenLimits(exchange)
  expect(vi.mocked(chargeTokens).mock.calls.map(([, total]) => total)).toEqual(charged)
})
