import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { LlmCost, LlmRates } from '#exchange/llm-prices.ts'
import type { Price, PriceCard } from './price-table.ts'

/** The prices in force for an input of this length. @param share of the listed prices */
export function ratesFor(card: PriceCard, inputTokens: number, share: number): LlmRates {
  const rate = (price: Price | undefined) =>
    price === undefined ? undefined : toPicodollars(priceFor(price, inputTokens) * share) / PICODOLLARS
  return {
    input: rate(card.input),
    output: rate(card.output),
    cacheRead: rate(card.cacheRead),
    cacheWrite: rate(card.cacheWrite),
    cacheWrite1h: rate(card.cacheWrite1h),
    inputAudio: rate(card.inputAudio),
    inputImage: rate(card.inputImage),
    outputAudio: rate(card.outputAudio),
    outputImage: rate(card.outputImage),
    outputReasoning: rate(card.outputReasoning),
  }
}

function priceFor(price: Price, inputTokens: number): number {
  if (typeof price === 'number') return price
  return price.tiers.findLast(({ start }) => inputTokens > start)?.price ?? price.base
}

/** A dollar for a million tokens is a million picodollars for each. */
const PICODOLLARS = 1e6

/** Without the fractions that binary numbers add. */
function toPicodollars(dollarsPerMillion: number): number {
  return Math.round(dollarsPerMillion * PICODOLLARS)
}

/**
 * The cost of the tokens of a call. Counts of special tokens are parts of `inputTokens` and `outputTokens`. A kind without a price of its own has
 * that of its direction, as in the lists of vendors.
 * @returns undefined if nothing is known
 */
export function costAt(rates: LlmRates, llm: LlmFacts): LlmCost | undefined {
  const { inputTokens, cachedInputTokens, cacheCreationInputTokens } = llm
  const outputTokens = llm.outputTokens ?? (hasNoOutput(llm) ? 0 : undefined)
  if (inputTokens === undefined && outputTokens === undefined) return undefined
  const input = inputTokens === undefined ? undefined : uncachedInput(rates, llm, inputTokens)
  const output = outputTokens === undefined ? undefined : outputCost(rates, llm, outputTokens)
  const cacheRead = partCost(cachedInputTokens, rates.cacheRead ?? rates.input)
  // Writes that last an hour cost more at some vendors.
  const cacheWrite = partCost(cacheCreationInputTokens, rates.cacheWrite ?? rates.input, [
    [llm.cacheCreation1hInputTokens, rates.cacheWrite1h],
  ])
  const read = cachedInputTokens === undefined ? 0 : cacheRead
  const written = cacheCreationInputTokens === undefined ? 0 : cacheWrite
  return { input, output, cacheRead, cacheWrite, total: sum(input, output, read, written) }
}

function sum(...parts: readonly (number | undefined)[]): number | undefined {
  let total = 0
  for (const part of parts) {
    if (part === undefined) return undefined
    total += part
  }
  return total
}

/** Embeddings report input alone. */
function hasNoOutput({ operation, inputTokens, totalTokens }: LlmFacts): boolean {
  return operation === 'embeddings' || (totalTokens !== undefined && totalTokens === inputTokens)
}

function uncachedInput(rates: LlmRates, llm: LlmFacts, inputTokens: number): number | undefined {
  const { cachedInputTokens = 0, cacheCreationInputTokens = 0, inputAudioTokens, inputImageTokens } = llm
  const uncached = Math.max(0, inputTokens - cachedInputTokens - cacheCreationInputTokens)
  return partCost(uncached, rates.input, [
    [inputAudioTokens, rates.inputAudio],
    [inputImageTokens, rates.inputImage],
  ])
}

function outputCost(rates: LlmRates, llm: LlmFacts, outputTokens: number): number | undefined {
  return partCost(outputTokens, rates.output, [
    [llm.outputAudioTokens, rates.outputAudio],
    [llm.outputImageTokens, rates.outputImage],
    [llm.reasoningTokens, rates.outputReasoning],
  ])
}

type Kind = readonly [tokens: number | undefined, rate: number | undefined]

/** The cost of tokens, of which some kinds may have prices of their own. Counts that exceed the rest (cached audio is in two counts) are cut. */
function partCost(
  tokens: number | undefined,
  rate: number | undefined,
  kinds: readonly Kind[] = [],
): number | undefined {
  if (tokens === undefined) return undefined
  let rest = tokens
  let picodollars = 0
  for (const [count, own] of kinds) {
    if (count === undefined || own === undefined) continue
    const counted = Math.min(count, rest)
    rest -= counted
    picodollars += counted * toPicodollars(own)
  }
  if (rest > 0 && rate === undefined) return undefined
  return Math.round((picodollars + rest * toPicodollars(rate ?? 0)) / 1000)
}
