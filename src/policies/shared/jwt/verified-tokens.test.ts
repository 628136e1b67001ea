import { expect, test } from 'vitest'
import { NO_KEY_SET } from '../authentication/read-key-set.ts'
import { type ValidToken, VerifiedTokens } from './verified-tokens.ts'

function tokenOf(text: string): ValidToken {
  return { identity: { claims: {}, token: text }, expires: 0, keySet: NO_KEY_SET, keys: NO_KEY_SET.keys }
}

test('used tokens are kept, unused ones are evicted, and the cache is bounded', () => {
  const tokens = new VerifiedTokens(10)
  const used = tokenOf('used')
  tokens.add(used)
  for (let i = 0; i < 100; i++) {
    tokens.add(tokenOf(`once-${i}`))
    expect(tokens.get('used')).toBe(used)
  }
  const kept = Array.from({ length: 100 }, (_, i) => tokens.get(`once-${i}`)).filter((found) => found !== undefined)
  expect(kept.length).toBeLessThanOrEqual(20)
  expect(tokens.get('once-99')?.identity.token).toBe('once-99')
})

test('a generation holds 4 Mi characters', () => {
  const half = 2 * 1024 * 1024
  const texts = ['a'.repeat(half), 'b'.repeat(half), 'c', 'd'.repeat(2 * half)]
  const tokens = new VerifiedTokens()
  for (const text of texts) tokens.add(tokenOf(text))
  // `a` and `b` fill the first generation; `c` starts the second and `d` the third.
  expect(texts.map((text) => tokens.get(text) !== undefined)).toEqual([false, false, true, true])
})

test('every generation holds 4 Mi characters', () => {
  const half = 2 * 1024 * 1024
  const texts = [...'abcdef'].map((letter) => letter.repeat(half))
  // Reading a token renews it, so each one is read from a cache of its own.
  const kept = texts.map((text) => {
    const tokens = new VerifiedTokens()
    for (const each of texts) tokens.add(tokenOf(each))
    return tokens.get(text) !== undefined
  })
  expect(kept).toEqual([false, false, true, true, true, true])
})

test('a generation holds 2048 tokens', () => {
  const tokens = new VerifiedTokens()
  for (let i = 0; i <= 4096; i++) tokens.add(tokenOf(`${i}`))
  expect([0, 2047, 2048, 4096].map((i) => tokens.get(`${i}`) !== undefined)).toEqual([false, false, true, true])
})

test('tokens whose ends are alike are told apart, however often each is read', () => {
  const tokens = new VerifiedTokens()
  const texts = ['a.b.end', 'a.c.end', 'end', 'd', '']
  for (const text of texts) tokens.add(tokenOf(text))
  for (const text of [...texts, ...texts.toReversed(), ...texts]) expect(tokens.get(text)?.identity.token).toBe(text)
  expect(tokens.get('b.c.end')).toBeUndefined()
})
