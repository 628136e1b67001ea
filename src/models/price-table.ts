import type { LlmRates } from '#exchange/llm-prices.ts'

/** Which names of models a row is about, as the price package writes it. */
export type NameMatch =
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string }
  | { readonly or: readonly NameMatch[] }
  | { readonly and: readonly NameMatch[] }

/** Dollars for a million tokens. Of long prompts, the price of the last step that the input exceeds holds for all tokens. */
export type Price = number | { readonly base: number; readonly tiers: readonly PriceStep[] }

export interface PriceStep {
  /** The step applies if the input, with its cached tokens, is longer. */
  readonly start: number
  readonly price: number
}

/** The prices of a model by the kind of tokens. A kind without a price has that of the plain kind of its direction. */
export type PriceCard = { readonly [Kind in keyof LlmRates]?: Price }

/** A time in which prices apply; without members: always. */
export interface PriceTime {
  /** Milliseconds since the epoch. */
  readonly fromMs?: number
  /** Seconds since midnight UTC; the end may be on the next day. */
  readonly daily?: readonly [start: number, end: number]
}

export interface DatedPrices extends PriceTime {
  readonly prices: PriceCard
}

/** One model. Of several times that apply, the last one decides; if none does, the first. */
export interface ModelPrices {
  readonly match: NameMatch
  readonly times: readonly DatedPrices[]
  /** The prices of service tiers by name; undefined: the vendor has one discount for all models (`service-tiers.ts`). */
  readonly tiers?: Readonly<Record<string, PriceCard>>
}

/** The prices of a vendor: a host of models. */
export interface VendorPrices {
  readonly id: string
  /** A regular expression for the URLs of its interface. */
  readonly hosts: string
  /** Vendors of models that this one hosts at the vendors' prices. */
  readonly fallbacks: readonly string[]
  /** The first that matches decides. */
  readonly models: readonly ModelPrices[]
}

/** One model in the price file of the operator. */
export interface OwnPrices extends ModelPrices {
  /** The name of the provider in logs; undefined: any. */
  readonly provider: string | undefined
  readonly tiers: Readonly<Record<string, PriceCard>>
}

/** Ignores letter case, except in regular expressions. */
export function matchesName(match: NameMatch, lowerName: string): boolean {
  if ('or' in match) return match.or.some((each) => matchesName(each, lowerName))
  if ('and' in match) return match.and.every((each) => matchesName(each, lowerName))
  if ('equals' in match) return lowerName === match.equals.toLowerCase()
  if ('starts_with' in match) return lowerName.startsWith(match.starts_with.toLowerCase())
  if ('ends_with' in match) return lowerName.endsWith(match.ends_with.toLowerCase())
  if ('contains' in match) return lowerName.includes(match.contains.toLowerCase())
  return new RegExp(match.regex).test(lowerName)
}

const DAY_SECONDS = 86_400

/** The prices at a time. */
export function pricesAt({ times }: ModelPrices, nowMs: number): PriceCard | undefined {
  return (times.findLast((time) => applies(time, nowMs)) ?? times[0])?.prices
}

function applies({ fromMs, daily }: PriceTime, nowMs: number): boolean {
  if (fromMs !== undefined && nowMs < fromMs) return false
  if (daily === undefined) return true
  const [start, end] = daily
  const second = (nowMs / 1000) % DAY_SECONDS
  return end < start ? second >= start || second < end : second >= start && second < end
}
