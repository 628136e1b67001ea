import type { ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices'
import { expect, test } from 'vitest'
import { packPrices } from './package-prices.ts'
import type { Price } from './price-table.ts'

function priceOf(prices: ModelPrice): Price | undefined {
  const model: ModelInfo = { id: 'm', match: { equals: 'm' }, prices }
  const provider: Provider = { id: 'openai', name: 'OpenAI', api_pattern: 'https://api', models: [model] }
  const [packed] = packPrices(({ providerId }) => (providerId === 'openai' ? provider : undefined))
  return JSON.parse(packed!.json).models[0].times[0]?.prices.input
}

test('a model with a fee for each request has no prices', () => {
  expect(priceOf({ input_mtok: 1 })).toBe(1)
  expect(priceOf({ input_mtok: 1, requests_kcount: 5 })).toBeUndefined()
})

test('prices of longer inputs are in the order of their lengths', () => {
  const tier = (start: number) => ({ start, price: start / 100 })
  const tiers = [tier(400), tier(200), tier(300)]
  expect(priceOf({ input_mtok: { base: 1, tiers } })).toEqual({ base: 1, tiers: [tier(200), tier(300), tier(400)] })
})
