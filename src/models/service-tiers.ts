import type { PriceCard } from './price-table.ts'

/** Tiers with the listed prices, in the words of all vendors. */
const STANDARD = new Set(['default', 'standard', 'auto', 'on_demand', 'on-demand'])

/** Half of the listed prices: what vendors document for calls that may wait. */
const HALF: Readonly<Record<string, ReadonlySet<string>>> = {
  openai: new Set(['flex', 'batch']),
  anthropic: new Set(['batch']),
  google: new Set(['flex', 'batch']),
  aws: new Set(['flex', 'batch']),
  azure: new Set(['batch']),
}

/**
 * The share of the listed prices that a vendor charges in a service tier. Faster tiers have prices of their own for each model, which the
 * price package does not have.
 * @returns undefined if the prices of the tier are not known
 */
export function shareOfTier(vendor: string, tier: string | undefined): number | undefined {
  if (isStandard(tier)) return 1
  return HALF[vendor]?.has(tier!) === true ? 0.5 : undefined
}

/** The prices of a tier in a row with prices for tiers. */
export function cardOfTier(
  prices: PriceCard | undefined,
  tiers: Readonly<Record<string, PriceCard>>,
  tier: string | undefined,
): PriceCard | undefined {
  if (tier !== undefined && Object.hasOwn(tiers, tier)) return tiers[tier]
  return isStandard(tier) ? prices : undefined
}

function isStandard(tier: string | undefined): boolean {
  return tier === undefined || STANDARD.has(tier)
}
