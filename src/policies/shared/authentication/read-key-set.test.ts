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
