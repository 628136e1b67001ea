import { expect, test } from 'vitest'
import { type ValidToken, VerifiedTokens } from './verified-tokens.ts'

const token: ValidToken = { identity: { claims: {}, token: '' }, expires: 0 }

test('what is in use stays, what is not goes, and there is a bound', () => {
  const tokens = new VerifiedTokens(10)
  tokens.add('used', token)
  for (let i = 0; i < 100; i++) {
    tokens.add(`once-${i}`, token)
    expect(tokens.get('used')).toBe(token)
  }
  const kept = Array.from({ length: 100 }, (_, i) => tokens.get(`once-${i}`)).filter((found) => found !== undefined)
  expect(kept.length).toBeLessThanOrEqual(20)
  expect(tokens.get('once-99')).toBe(token)
})
