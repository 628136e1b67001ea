import { expect, test } from 'vitest'
import { NO_KEY_SET } from '../authentication/read-key-set.ts'
import { type ValidToken, VerifiedTokens } from './verified-tokens.ts'

const token: ValidToken = { identity: { claims: {}, token: '' }, expires: 0, keySet: NO_KEY_SET, keys: NO_KEY_SET.keys }

test('used tokens are kept, unused ones are evicted, and the cache is bounded', () => {
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

test('a generation holds 4 Mi characters', () => {
  const half = 2 * 1024 * 1024
  const texts = ['a'.repeat(half), 'b'.repeat(half), 'c', 'd'.repeat(2 * half)]
  const tokens = new VerifiedTokens()
  for (const text of texts) tokens.add(text, token)
  // `a` and `b` fill the first generation; `c` starts the second and `d` the third.
  expect(texts.map((text) => tokens.get(text) === token)).toEqual([false, false, true, true])
})

test('every generation holds 4 Mi characters', () => {
  const half = 2 * 1024 * 1024
  const texts = [...'abcdef'].map((letter) => letter.repeat(half))
  // Reading a token renews it, so each one is read from a cache of its own.
  const kept = texts.map((text) => {
    const tokens = new VerifiedTokens()
    for (const each of texts) tokens.add(each, token)
    return tokens.get(text) === token
  })
  expect(kept).toEqual([false, false, true, true, true, true])
})

test('a generation holds 2048 tokens', () => {
  const tokens = new VerifiedTokens()
  for (let i = 0; i <= 4096; i++) tokens.add(`${i}`, token)
  expect([0, 2047, 2048, 4096].map((i) => tokens.get(`${i}`) === token)).toEqual([false, false, true, true])
})
