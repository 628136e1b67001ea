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
  const found = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => tokens.get(large(from + i))).filter((kept) => kept !== undefined).length
  // Four million characters are 256 of them: two generations whole, and what the young one has.
  expect([found(0, 512), found(768, 1000)]).toEqual([0, 232])
})
