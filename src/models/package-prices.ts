import type { ConditionalPrice, ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices'
import type { LlmRates } from '#exchange/llm-prices.ts'
import type { PackedVendor } from './price-book.ts'
import type { DatedPrices, ModelPrices, Price, PriceCard, PriceTime, VendorPrices } from './price-table.ts'

/** The names of prices in the package; those of other kinds are of tokens that the gateway does not count. */
const NAMES: { readonly [Kind in keyof LlmRates]: string } = {
  input: 'input_mtok',
  output: 'output_mtok',
  cacheRead: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWrite1h: 'cache_write_1h_mtok',
  inputAudio: 'input_audio_mtok',
  inputImage: 'input_image_mtok',
  outputAudio: 'output_audio_mtok',
  outputImage: 'output_image_mtok',
  outputReasoning: 'output_reasoning_mtok',
}

/** The vendors with prices for tokens: those whose interfaces providers speak, and other hosts of models. */
const VENDORS = [
  'openai anthropic azure google aws avian baseten cerebras cloudflare cohere deepseek doubleword fireworks groq minimax mistral',
  'moonshotai novita openrouter ovhcloud together voyageai x-ai zai zhipuai',
]
  .join(' ')
  .split(' ')

/** A fee for each request or search makes the price of tokens a part of the cost only. */
const FEE = 'requests_kcount'

/** Reduces the data of the price package to what calls need. @param find `findProvider` of the package */
export function packPrices(find: (options: { providerId: string }) => Provider | undefined): PackedVendor[] {
  return VENDORS.flatMap((id) => {
    const provider = find({ providerId: id })
    if (provider?.id !== id) return []
    const vendor: VendorPrices = {
      id,
      hosts: provider.api_pattern,
      fallbacks: provider.fallback_model_providers ?? [],
      models: provider.models.map(toModel),
    }
    return [{ id, hosts: provider.api_pattern, json: JSON.stringify(vendor) }]
  })
}

/** A model without prices for its tokens stays in the list, so that no later row is taken for it. */
function toModel({ match, prices }: ModelInfo): ModelPrices {
  const dated: ConditionalPrice[] = Array.isArray(prices) ? prices : [{ prices }]
  const times = dated.map(({ constraint, prices }): DatedPrices => ({ ...toTime(constraint), prices: toCard(prices) }))
  return { match, times: times.every(({ prices: { input } }) => input === undefined) ? [] : times }
}

function toTime(constraint: ConditionalPrice['constraint']): PriceTime {
  if (constraint === undefined) return {}
  if (constraint.type === 'start_date') return { fromMs: Date.parse(constraint.start_date) }
  return { daily: [secondOf(constraint.start_time), secondOf(constraint.end_time)] }
}

/** `16:30:00Z`. */
function secondOf(time: string): number {
  return Date.parse(`1970-01-01T${time}`) / 1000
}

function toCard(prices: ModelPrice): PriceCard {
  if (prices[FEE] !== undefined) return {}
  return Object.fromEntries(
    Object.entries(NAMES).flatMap(([kind, name]) => {
      const price = prices[name]
      return price === undefined ? [] : [[kind, toPrice(price)]]
    }),
  )
}

function toPrice(price: NonNullable<ModelPrice[string]>): Price {
  if (typeof price === 'number') return price
  const { base, tiers } = price
  return { base, tiers: tiers.toSorted((a, b) => a.start - b.start).map(({ start, price }) => ({ start, price })) }
}
