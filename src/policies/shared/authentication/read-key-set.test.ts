import { expect, test } from 'vitest'
import { importKey } from '#test/support/import-key.ts'
import { createSigningKey } from '#test/support/token-issuer.ts'
import { readKeySet } from './read-key-set.ts'

const { jwk } = createSigningKey('P-256', 'k')
const setOf = (count: number) =>
  JSON.stringify({ keys: Array.from({ length: count }, (_, i) => ({ ...jwk, kid: `k${i}` })) })

test('a set has at most a thousand keys', () => {
  expect(readKeySet(setOf(1000), importKey)).toMatchObject({ faults: [] })
  expect(readKeySet(setOf(1000), importKey).keys.size).toBe(1000)
  expect(readKeySet(setOf(1001), importKey)).toEqual({ keys: new Map(), faults: ['has more than 1000 keys'] })
})

test.each([
  ['an algorithm of its type', { alg: 'ES256' }, ['ES256']],
  ['no algorithm', { alg: undefined }, ['ES256']],
])('a key with %s verifies tokens of it', (_, members, algorithms) => {
  const { keys, faults } = readKeySet(JSON.stringify({ keys: [{ ...jwk, kid: 'k', ...members }] }), importKey)
  expect(faults).toEqual([])
  expect(keys.get('k')?.map((key) => key.algorithms)).toEqual([algorithms])
})

test.each([
  ['for encryption', { alg: 'ECDH-ES' }, []],
  ['of another type', { alg: 'RS256' }, []],
  [
    'with an unknown curve and an algorithm',
    { crv: 'P-192', alg: 'ES256' },
    ['keys[0] is not used: its curve is not supported'],
  ],
])('a key %s is not used', (_, members, faults) => {
  const set = readKeySet(JSON.stringify({ keys: [{ ...jwk, kid: 'k', ...members }] }), importKey)
  expect(set).toEqual({ keys: new Map(), faults })
})
