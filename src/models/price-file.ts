import type { LlmRates } from '#exchange/llm-prices.ts'
import {
  type ConfigProblem,
  enumOf,
  integer,
  itemPath,
  list,
  mapOf,
  number,
  object,
  optional,
  type Parsed,
  problem,
  required,
  shortString,
  validate,
} from '#schema/index.ts'
import type { NameMatch, OwnPrices, Price, PriceCard } from './price-table.ts'

const price = () => number({ min: 0, max: 1_000_000 })

const PRICES = {
  input: optional(price(), 'Input tokens that no other price is for.'),
  output: optional(price(), 'Output tokens that no other price is for.'),
  cacheRead: optional(price(), 'Input tokens that were read from a cache; default: input.'),
  cacheWrite: optional(price(), 'Input tokens that were written to a cache; default: input.'),
  cacheWrite1h: optional(price(), 'Those that the cache keeps for an hour; default: cacheWrite.'),
  inputAudio: optional(price(), 'Audio in the input; default: input.'),
  inputImage: optional(price(), 'Images in the input; default: input.'),
  outputAudio: optional(price(), 'Audio in the output; default: output.'),
  outputImage: optional(price(), 'Images in the output; default: output.'),
  outputReasoning: optional(price(), 'Reasoning; default: output.'),
}

const KINDS = Object.keys(PRICES) as (keyof LlmRates)[]

const longPrompts = object({
  above: required(integer({ min: 1 }), 'Input tokens, with those of caches. The prices hold for longer prompts.'),
  ...PRICES,
})

const LONG_PROMPTS = optional(
  list(longPrompts, { max: 16 }),
  'Prices for long prompts, with rising bounds. A kind without a price here keeps that of shorter prompts.',
)

const tier = object({ ...PRICES, longPrompts: LONG_PROMPTS })

const row = object({
  provider: optional(
    enumOf('openai', 'azure', 'anthropic', 'gcp.gemini', 'gcp.vertex_ai', 'aws.bedrock'),
    'Name of the provider in logs (`gen_ai.provider.name`), such as openai or aws.bedrock. When unset, any.',
  ),
  model: required(
    shortString(),
    'Name of the model, in any letter case. A `*` at the end stands for any rest. Names without region, revision and date stand for those with them.',
  ),
  ...PRICES,
  longPrompts: LONG_PROMPTS,
  serviceTiers: optional(
    mapOf(tier, { max: 16 }),
    'Prices of service tiers by the name that responses have. The prices outside are those of the standard tier; other tiers have no price.',
  ),
})

/** The price file of an operator: dollars for a million tokens. */
const priceFile = object({
  prices: required(
    list(row, { max: 10_000 }),
    'Models with their prices. The first entry that matches replaces all built-in prices of its model.',
  ),
})

/** Whether an object of a file is a price file: it has prices, and nothing that every object of the API has. */
export function looksLikePrices(value: object): boolean {
  return (
    'prices' in value &&
    Array.isArray(value.prices) &&
    !['apiVersion', 'kind', 'metadata'].some((name) => name in value)
  )
}

/** Checks the value of a price file. */
export function readPriceFile(value: unknown): {
  readonly own?: readonly OwnPrices[]
  readonly problems: readonly ConfigProblem[]
} {
  const { value: file, problems } = validate(priceFile, value)
  if (file === undefined) return { problems }
  const unbased = file.prices.flatMap(unbasedSteps)
  return unbased.length > 0 ? { problems: unbased } : { own: file.prices.map(toOwn), problems }
}

type Row = Parsed<typeof row>
type Prices = Pick<Row, keyof LlmRates | 'longPrompts'>

/** Prices for long prompts only: those of shorter ones are missing. */
function unbasedSteps({ serviceTiers = {}, ...prices }: Row, index: number): readonly ConfigProblem[] {
  const path = itemPath('prices', index)
  const tiers = Object.entries(serviceTiers).map(
    ([name, its]) => [itemPath(`${path}.serviceTiers`, name), its] as const,
  )
  return [[path, prices] as const, ...tiers].flatMap(([at, { longPrompts = [], ...base }]) =>
    longPrompts.flatMap((step, i) =>
      KINDS.filter((kind) => step[kind] !== undefined && base[kind] === undefined).map((kind) =>
        problem(`${at}.longPrompts[${i}].${kind}`, 'inconsistent', `needs ${kind} for shorter prompts in ${at}`),
      ),
    ),
  )
}

function toOwn({ provider, model, serviceTiers = {}, ...prices }: Row): OwnPrices {
  return {
    provider,
    match: matchOf(model),
    times: [{ prices: toCard(prices) }],
    tiers: Object.fromEntries(Object.entries(serviceTiers).map(([name, its]) => [name, toCard(its)])),
  }
}

function matchOf(model: string): NameMatch {
  return model.endsWith('*') ? { starts_with: model.slice(0, -1) } : { equals: model }
}

function toCard(prices: Prices): PriceCard {
  const steps = (prices.longPrompts ?? []).toSorted((a, b) => a.above - b.above)
  const card: { -readonly [Kind in keyof LlmRates]?: Price } = {}
  for (const kind of KINDS) {
    const base = prices[kind]
    if (base === undefined) continue
    const tiers = steps.flatMap(({ above: start, [kind]: price }) => (price === undefined ? [] : [{ start, price }]))
    card[kind] = tiers.length === 0 ? base : { base, tiers }
  }
  return card
}
