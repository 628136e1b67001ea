import { expect, test } from 'vitest'
import { shareOfTier } from './service-tiers.ts'

type Case = [vendor: string, tier: string | undefined, share: number | undefined]

test.each<Case>([
  ...[undefined, 'default', 'standard', 'auto', 'on_demand', 'on-demand'].map((tier): Case => ['any', tier, 1]),
  ...['openai', 'google', 'aws'].flatMap((vendor): Case[] => [
    [vendor, 'flex', 0.5],
    [vendor, 'batch', 0.5],
  ]),
  ['anthropic', 'batch', 0.5],
  ['anthropic', 'flex', undefined],
  ['azure', 'batch', 0.5],
  ['azure', 'flex', undefined],
  ['openai', 'priority', undefined],
  ['openai', '', undefined],
  ['groq', 'flex', undefined],
])('%s charges in its tier %s %s of the prices', (vendor, tier, share) => {
  expect(shareOfTier(vendor, tier)).toBe(share)
})
