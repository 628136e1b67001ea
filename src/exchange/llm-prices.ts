import type { LlmFacts } from './llm-facts.ts'

/** What an LLM call costs, in nano-dollars: whole numbers, whose sum is exact. A part is undefined if its price or its tokens are unknown. */
export interface LlmCost {
  /** Input that was neither read from a cache nor written to it. */
  readonly input: number | undefined
  /** Output, with its reasoning. */
  readonly output: number | undefined
  /** Undefined if the provider reported no such tokens; so is `cacheWrite`. */
  readonly cacheRead: number | undefined
  readonly cacheWrite: number | undefined
  /** Undefined unless all parts are known. */
  readonly total: number | undefined
}

/** Prices in dollars for a million tokens. */
export interface LlmRates {
  readonly input: number | undefined
  readonly output: number | undefined
  readonly cacheRead: number | undefined
  readonly cacheWrite: number | undefined
  /** Of a cache that lasts an hour. */
  readonly cacheWrite1h: number | undefined
  readonly inputAudio: number | undefined
  readonly inputImage: number | undefined
  readonly outputAudio: number | undefined
  readonly outputImage: number | undefined
  readonly outputReasoning: number | undefined
}

export const NANODOLLARS = 1e9

/** The prices of models, as they are now. */
export interface LlmPrices {
  /** @returns undefined if nothing is known */
  costOf(llm: LlmFacts, nowMs: number): LlmCost | undefined
  /** The prices that apply to the call; undefined if no price is known. */
  ratesOf(llm: LlmFacts, nowMs: number): LlmRates | undefined
}

export const NO_PRICES: LlmPrices = { costOf: () => undefined, ratesOf: () => undefined }
