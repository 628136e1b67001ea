import { findProvider } from '@pydantic/genai-prices'
import { expect, test } from 'vitest'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { packPrices } from './package-prices.ts'
import { PriceBook } from './price-book.ts'
import { readPriceFile } from './price-file.ts'

const NOW = Date.parse('2026-11-22T12:00:00Z')
const VENDORS = packPrices(findProvider)

const calls: Record<string, Partial<LlmFacts>> = {
  openai: { provider: 'openai', serverAddress: 'api.openai.com' },
  azure: { provider: 'azure', serverAddress: 'acme.openai.azure.com' },
  anthropic: { provider: 'anthropic', serverAddress: 'api.anthropic.com' },
  gemini: { provider: 'gcp.gemini', serverAddress: 'generativelanguage.googleapis.com' },
  vertex: { provider: 'gcp.vertex_ai', serverAddress: 'us-east5-aiplatform.googleapis.com' },
  bedrock: { provider: 'aws.bedrock', serverAddress: 'bedrock-runtime.eu-west-1.amazonaws.com' },
  groq: { provider: 'openai', serverAddress: 'api.groq.com' },
  own: { provider: 'openai', serverAddress: '127.0.0.1' },
}

function callOf(to: string, model: string, usage: Partial<LlmFacts>): LlmFacts {
  return { ...NO_LLM, operation: 'chat', ...calls[to], requestModel: model, ...usage }
}

function bookOf(prices: readonly object[] = []): PriceBook {
  const { own, problems } = readPriceFile({ prices })
  expect(problems).toEqual([])
  const book = new PriceBook()
  book.update({ vendors: VENDORS, own: own! })
  return book
}

/** Nano-dollars: input, output, cache read, cache write, total; `-`: unknown. */
type Amounts = string

function amountsOf(book: PriceBook, llm: LlmFacts, nowMs = NOW): Amounts {
  const cost = book.costOf(llm, nowMs)
  if (cost === undefined) return 'unknown'
  const { input, output, cacheRead, cacheWrite, total } = cost
  return [input, output, cacheRead, cacheWrite, total].map((part) => part ?? '-').join(' ')
}

const IN_OUT = { inputTokens: 1000, outputTokens: 100 }

test('a very long name of a client has no price, and is not kept', () => {
  const book = bookOf([{ model: 'x*', input: 1, output: 1 }])
  expect(amountsOf(book, callOf('own', 'x'.repeat(512), IN_OUT))).toBe('1000000 100000 - - 1100000')
  expect(amountsOf(book, callOf('own', 'x'.repeat(513), IN_OUT))).toBe('unknown')
})

// Prices of the pinned package, in dollars for a million tokens: gpt-4o-mini 0.15, 0.6, cached 0.075; gpt-5 1.25, 10; gpt-4o 2.5, 10;
// text-embedding-3-small 0.02; claude-sonnet-4-5 3, 15, read 0.3, write 3.75, an hour 6, above 200,000 tokens the double (output 22.5), on
// Bedrock in a region 3.3, 16.5; gemini-2.5-pro 1.25, 10; llama-3.3-70b-versatile on Groq 0.59, 0.79.
const builtIn: [to: string, model: string, usage: Partial<LlmFacts>, amounts: Amounts][] = [
  ['openai', 'gpt-4o-mini', IN_OUT, '150000 60000 - - 210000'],
  ['openai', 'gpt-4o-mini', { ...IN_OUT, cachedInputTokens: 400 }, '90000 60000 30000 - 180000'],
  ['openai', 'GPT-4o-Mini-2024-07-18', IN_OUT, '150000 60000 - - 210000'],
  ['openai', 'gpt-4o-mini', { inputTokens: 0, outputTokens: 0 }, '0 0 - - 0'],
  ['openai', 'gpt-4o-mini', { inputTokens: 1000 }, '150000 - - - -'],
  ['openai', 'gpt-4o-mini', {}, 'unknown'],
  ['openai', 'gpt-5', { ...IN_OUT, serviceTier: 'default' }, '1250000 1000000 - - 2250000'],
  ['openai', 'gpt-5', { ...IN_OUT, serviceTier: 'flex' }, '625000 500000 - - 1125000'],
  ['openai', 'gpt-5', { ...IN_OUT, serviceTier: 'batch' }, '625000 500000 - - 1125000'],
  ['openai', 'gpt-5', { ...IN_OUT, serviceTier: 'priority' }, 'unknown'],
  ['openai', 'gpt-5', { ...IN_OUT, reasoningTokens: 60 }, '1250000 1000000 - - 2250000'],
  ['openai', 'no-such-model', IN_OUT, 'unknown'],
  ['openai', 'no-such-model', { ...IN_OUT, responseModel: 'gpt-5' }, '1250000 1000000 - - 2250000'],
  ['openai', 'gpt-5', { ...IN_OUT, responseModel: 'internal-name' }, '1250000 1000000 - - 2250000'],
  ['openai', 'gpt-5', { ...IN_OUT, responseModel: 'gpt-4o-mini' }, '150000 60000 - - 210000'],
  ['openai', 'ft:gpt-5:acme::abc', IN_OUT, 'unknown'],
  ['openai', 'claude-sonnet-4-5', IN_OUT, 'unknown'],
  ['openai', 'text-embedding-3-small', { operation: 'embeddings', inputTokens: 1234 }, '24680 0 - - 24680'],
  [
    'anthropic',
    'claude-sonnet-4-5-20250929',
    {
      inputTokens: 10_000,
      outputTokens: 500,
      cachedInputTokens: 6000,
      cacheCreationInputTokens: 3000,
      cacheCreation1hInputTokens: 1000,
    },
    '3000000 7500000 1800000 13500000 25800000',
  ],
  ['anthropic', 'claude-sonnet-4-5', { inputTokens: 200_000, outputTokens: 10 }, '600000000 150000 - - 600150000'],
  ['anthropic', 'claude-sonnet-4-5', { inputTokens: 200_001, outputTokens: 10 }, '1200006000 225000 - - 1200231000'],
  // The length counts cached tokens, too.
  [
    'anthropic',
    'claude-sonnet-4-5',
    { inputTokens: 300_000, cachedInputTokens: 300_000, outputTokens: 0 },
    '0 0 180000000 - 180000000',
  ],
  ['anthropic', 'claude-sonnet-4-5', { ...IN_OUT, serviceTier: 'standard' }, '3000000 1500000 - - 4500000'],
  ['anthropic', 'claude-sonnet-4-5', { ...IN_OUT, serviceTier: 'batch' }, '1500000 750000 - - 2250000'],
  ['anthropic', 'claude-sonnet-4-5', { ...IN_OUT, serviceTier: 'priority' }, 'unknown'],
  ['bedrock', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', IN_OUT, '3300000 1650000 - - 4950000'],
  ['gemini', 'models/gemini-2.5-pro', IN_OUT, '1250000 1000000 - - 2250000'],
  ['vertex', 'google/gemini-2.5-pro', IN_OUT, '1250000 1000000 - - 2250000'],
  ['vertex', 'claude-sonnet-4-5@20250929', IN_OUT, '3000000 1500000 - - 4500000'],
  ['azure', 'production', { ...IN_OUT, responseModel: 'gpt-4o-2024-11-20' }, '2500000 1000000 - - 3500000'],
  ['groq', 'llama-3.3-70b-versatile', IN_OUT, '590000 79000 - - 669000'],
  ['groq', 'gpt-5', IN_OUT, 'unknown'],
  ['own', 'gpt-4o-mini', IN_OUT, '150000 60000 - - 210000'],
]

for (const [to, model, usage, amounts] of builtIn) {
  test(`${model} at ${to} with ${JSON.stringify(usage)}`, () => {
    expect(amountsOf(bookOf(), callOf(to, model, usage))).toBe(amounts)
  })
}

const PRICES = { input: 2, output: 8 }
const MEDIA = { inputTokens: 1000, outputTokens: 1000, inputAudioTokens: 300, inputImageTokens: 200 }

const ofOperator: [row: object, model: string, usage: Partial<LlmFacts>, amounts: Amounts][] = [
  [{ model: 'mine', ...PRICES }, 'mine', IN_OUT, '2000000 800000 - - 2800000'],
  [{ model: 'Mine', ...PRICES }, 'mINE', IN_OUT, '2000000 800000 - - 2800000'],
  [{ model: 'mine', ...PRICES }, 'vendor/mine-2026-01-02', IN_OUT, '2000000 800000 - - 2800000'],
  [{ model: 'mine', ...PRICES }, 'mine-2', IN_OUT, 'unknown'],
  [{ model: 'mine*', ...PRICES }, 'mine-2', IN_OUT, '2000000 800000 - - 2800000'],
  [{ model: 'gpt-5', ...PRICES }, 'gpt-5', IN_OUT, '2000000 800000 - - 2800000'],
  [
    { model: 'gpt-5', ...PRICES },
    'alias',
    { ...IN_OUT, responseModel: 'gpt-5-2025-08-07' },
    '2000000 800000 - - 2800000',
  ],
  [{ model: 'alias', ...PRICES }, 'alias', { ...IN_OUT, responseModel: 'gpt-5' }, '2000000 800000 - - 2800000'],
  [{ provider: 'anthropic', model: 'gpt-5', ...PRICES }, 'gpt-5', IN_OUT, '1250000 1000000 - - 2250000'],
  [{ model: 'free', input: 0, output: 0 }, 'free', IN_OUT, '0 0 - - 0'],
  // Without a price the amount is unknown, never 0.
  [{ model: 'mine', input: 2 }, 'mine', IN_OUT, '2000000 - - - -'],
  [{ model: 'gpt-5' }, 'gpt-5', IN_OUT, '- - - - -'],
  [{ model: 'mine', input: 2 }, 'mine', { inputTokens: 10, outputTokens: 0 }, '20000 0 - - 20000'],
  // Kinds without prices of their own have those of their direction.
  [{ model: 'mine', ...PRICES }, 'mine', MEDIA, '2000000 8000000 - - 10000000'],
  [{ model: 'mine', ...PRICES, inputAudio: 32, inputImage: 5 }, 'mine', MEDIA, '11600000 8000000 - - 19600000'],
  [
    { model: 'mine', ...PRICES, outputAudio: 64, outputImage: 30, outputReasoning: 10 },
    'mine',
    { ...MEDIA, outputAudioTokens: 100, outputImageTokens: 200, reasoningTokens: 300 },
    '2000000 18600000 - - 20600000',
  ],
  [
    { model: 'mine', ...PRICES },
    'mine',
    { ...IN_OUT, cachedInputTokens: 500, cacheCreationInputTokens: 300 },
    '400000 800000 1000000 600000 2800000',
  ],
  // Counts that do not fit together never make a part negative.
  [
    { model: 'mine', ...PRICES, cacheRead: 1 },
    'mine',
    { ...IN_OUT, cachedInputTokens: 2000 },
    '0 800000 2000000 - 2800000',
  ],
  [
    { model: 'mine', ...PRICES, inputAudio: 32 },
    'mine',
    { ...IN_OUT, inputAudioTokens: 5000 },
    '32000000 800000 - - 32800000',
  ],
  // Fractions of a nano-dollar are rounded once for each part.
  [{ model: 'mine', input: 0.0375, output: 0.15 }, 'mine', { inputTokens: 3, outputTokens: 1 }, '113 150 - - 263'],
  [
    {
      model: 'mine',
      ...PRICES,
      longPrompts: [
        { above: 1000, input: 4 },
        { above: 500, input: 3, output: 9 },
      ],
    },
    'mine',
    { inputTokens: 1001, outputTokens: 100 },
    '4004000 900000 - - 4904000',
  ],
  [
    { model: 'mine', ...PRICES, longPrompts: [{ above: 1000, input: 4 }] },
    'mine',
    IN_OUT,
    '2000000 800000 - - 2800000',
  ],
  [
    { model: 'mine', ...PRICES, serviceTiers: { priority: { input: 4, output: 16 } } },
    'mine',
    { ...IN_OUT, serviceTier: 'priority' },
    '4000000 1600000 - - 5600000',
  ],
  [{ model: 'mine', ...PRICES }, 'mine', { ...IN_OUT, serviceTier: 'flex' }, 'unknown'],
  [{ model: 'mine', ...PRICES }, 'mine', { ...IN_OUT, serviceTier: 'constructor' }, 'unknown'],
]

for (const [row, model, usage, amounts] of ofOperator) {
  test(`${JSON.stringify(row)}: ${model} with ${JSON.stringify(usage)}`, () => {
    expect(amountsOf(bookOf([row]), callOf('openai', model, usage))).toBe(amounts)
  })
}

test('the first entry of the price file decides', () => {
  const book = bookOf([
    { model: 'mine-large', input: 5, output: 5 },
    { model: 'mine*', ...PRICES },
  ])
  expect(amountsOf(book, callOf('openai', 'mine-large', IN_OUT))).toBe('5000000 500000 - - 5500000')
  expect(amountsOf(book, callOf('openai', 'mine-small', IN_OUT))).toBe('2000000 800000 - - 2800000')
  expect(amountsOf(book, callOf('openai', 'minor', IN_OUT))).toBe('unknown')
})

test('an entry for all models holds for no call without a model', () => {
  const book = bookOf([{ model: '*', ...PRICES }])
  expect(amountsOf(book, callOf('own', 'any', IN_OUT))).toBe('2000000 800000 - - 2800000')
  expect(amountsOf(book, callOf('own', '', IN_OUT))).toBe('unknown')
})

test.each<[says: string, prices: readonly object[], problems: number]>([
  ['as many entries as fit', Array.from({ length: 10_000 }, () => ({ model: 'm', ...PRICES })), 0],
  ['one more', Array.from({ length: 10_001 }, () => ({ model: 'm', ...PRICES })), 1],
  ['prompts of more than one token', [{ model: 'm', ...PRICES, longPrompts: [{ above: 1, ...PRICES }] }], 0],
  ['prompts of any length', [{ model: 'm', ...PRICES, longPrompts: [{ above: 0, ...PRICES }] }], 1],
])('a price file with %s', (_, prices, problems) => {
  expect(readPriceFile({ prices }).problems).toHaveLength(problems)
})

test('the rates are those that apply to the call, in dollars for a million tokens', () => {
  const book = bookOf()
  const short = callOf('anthropic', 'claude-sonnet-4-5', { inputTokens: 10 })
  const rates = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6 }
  expect(book.ratesOf(short, NOW)).toMatchObject(rates)
  expect(book.ratesOf({ ...short, serviceTier: 'batch' }, NOW)).toMatchObject({
    input: 1.5,
    output: 7.5,
    cacheRead: 0.15,
  })
  expect(book.ratesOf({ ...short, inputTokens: 200_001 }, NOW)).toMatchObject({
    input: 6,
    output: 22.5,
    cacheRead: 0.6,
  })
  expect(book.ratesOf({ ...short, requestModel: 'other' }, NOW)).toBeUndefined()
})

test('prices of a part of the day and from a date on hold then', () => {
  const vendor = {
    id: 'openai',
    hosts: 'https://api\\.openai\\.com',
    fallbacks: [],
    models: [
      {
        match: { equals: 'mine' },
        times: [
          { prices: { input: 1, output: 1 } },
          { fromMs: Date.parse('2026-12-01T12:00:00Z'), prices: { input: 2, output: 2 } },
          { daily: [23 * 3600, 3600], prices: { input: 3, output: 3 } },
        ],
      },
    ],
  }
  const book = new PriceBook()
  book.update({ vendors: [{ id: vendor.id, hosts: vendor.hosts, json: JSON.stringify(vendor) }], own: [] })
  const inputAt = (time: string) => book.costOf(callOf('openai', 'mine', IN_OUT), Date.parse(time))?.input
  expect(inputAt('2026-11-30T22:59:59Z')).toBe(1_000_000)
  expect(inputAt('2026-11-30T23:00:00Z')).toBe(3_000_000)
  expect(inputAt('2026-12-01T00:59:59Z')).toBe(3_000_000)
  expect(inputAt('2026-12-01T11:59:59.999Z')).toBe(1_000_000)
  expect(inputAt('2026-12-01T12:00:00Z')).toBe(2_000_000)
})

test('new lists apply at once, and an empty book knows nothing', () => {
  const book = new PriceBook()
  const llm = callOf('openai', 'mine', IN_OUT)
  expect(book.costOf(llm, NOW)).toBeUndefined()
  const withPrice = (input: number) => readPriceFile({ prices: [{ model: 'mine', input, output: 1 }] }).own!
  book.update({ vendors: [], own: withPrice(1) })
  expect(book.costOf(llm, NOW)?.input).toBe(1_000_000)
  book.update({ vendors: [], own: withPrice(2) })
  expect(book.costOf(llm, NOW)?.input).toBe(2_000_000)
})

test('new lists apply to hosts that had no vendor', () => {
  const book = new PriceBook()
  const { own } = readPriceFile({ prices: [{ model: 'mine', input: 1, output: 1 }] })
  const llm = callOf('groq', 'llama-3.3-70b-versatile', IN_OUT)
  book.update({ vendors: [], own: own! })
  expect(amountsOf(book, llm)).toBe('unknown')
  book.update({ vendors: VENDORS, own: own! })
  expect(amountsOf(book, llm)).toBe('590000 79000 - - 669000')
})

test('names that clients invent do not fill the memory', () => {
  const book = bookOf()
  for (let i = 0; i < 3000; i++) expect(book.costOf(callOf('openai', `invented-${i}`, IN_OUT), NOW)).toBeUndefined()
  expect(amountsOf(book, callOf('openai', 'gpt-4o-mini', IN_OUT))).toBe('150000 60000 - - 210000')
})

test('an update replaces the prices of the package, too', () => {
  const book = bookOf()
  const call = callOf('openai', 'gpt-4o-mini', IN_OUT)
  expect(amountsOf(book, call)).not.toBe('unknown')
  book.update({ vendors: [], own: [] })
  expect(amountsOf(book, call)).toBe('unknown')
  const withoutModels = (json: string) => JSON.stringify({ ...JSON.parse(json), fallbacks: [], models: [] })
  book.update({ vendors: VENDORS.map((vendor) => ({ ...vendor, json: withoutModels(vendor.json) })), own: [] })
  expect(amountsOf(book, call)).toBe('unknown')
})
