import { expect, test } from 'vitest'
import { NO_KEY_SET } from '../../shared/authentication/read-key-set.ts'
import { type ValidToken, VerifiedTokens } from './verified-tokens.ts'

const token: ValidToken = { identity: { claims: {}, token: '' }, expires: 0, keySet: NO_KEY_SET, keys: NO_KEY_SET.keys }

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

test('large tokens are fewer', () => {
  const tokens = new VerifiedTokens()
  const large = (i: number) => `${i}`.padStart(16_384, 'x')
  for (let i = 0; i < 1000; i++) tokens.add(large(i), token)
  // Four million characters are 256 of them: the young generation holds 232, the old one 256.
  expect([511, 512, 999].map((i) => tokens.get(large(i)) === token)).toEqual([false, true, true])
})

test('a generation has 2048 tokens', () => {
  const tokens = new VerifiedTokens()
  for (let i = 0; i <= 4096; i++) tokens.add(`${i}`, token)
  expect([0, 2047, 2048, 4096].map((i) => tokens.get(`${i}`) === token)).toEqual([false, false, true, true])
})
