import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sipHash, sipHashed } from './sip-hash.ts'

const MASK = (1n << 64n) - 1n
const rotate = (word: bigint, by: bigint) => ((word << by) | (word >> (64n - by))) & MASK
const wordAt = (bytes: readonly number[], at: number) =>
  [0, 1, 2, 3, 4, 5, 6, 7].reduce((word, i) => word | (BigInt(bytes[at + i] ?? 0) << BigInt(8 * i)), 0n)

/** SipHash-c-d as the paper describes it, in whole words. */
function slowly(bytes: readonly number[], secret: readonly number[], c: number, d: number): bigint {
  const [k0, k1] = [wordAt(secret, 0), wordAt(secret, 8)]
  let [v0, v1] = [k0 ^ 0x736f6d6570736575n, k1 ^ 0x646f72616e646f6dn]
  let [v2, v3] = [k0 ^ 0x6c7967656e657261n, k1 ^ 0x7465646279746573n]
  const rounds = (count: number) => {
    for (let i = 0; i < count; i++) {
      v0 = (v0 + v1) & MASK
      v1 = rotate(v1, 13n) ^ v0
      v0 = rotate(v0, 32n)
      v2 = (v2 + v3) & MASK
      v3 = rotate(v3, 16n) ^ v2
      v0 = (v0 + v3) & MASK
      v3 = rotate(v3, 21n) ^ v0
      v2 = (v2 + v1) & MASK
      v1 = rotate(v1, 17n) ^ v2
      v2 = rotate(v2, 32n)
    }
  }
  for (let at = 0; at <= bytes.length; at += 8) {
    const isLast = at + 8 > bytes.length
    const word = wordAt(bytes, at) | (isLast ? BigInt(bytes.length & 255) << 56n : 0n)
    v3 ^= word
    rounds(c)
    v0 ^= word
  }
  v2 ^= 0xffn
  rounds(d)
  return v0 ^ v1 ^ v2 ^ v3
}

const COUNTING = Array.from({ length: 16 }, (_, i) => i)

test('the slow one is SipHash: the test value of the paper', () => {
  expect(slowly(COUNTING.slice(0, 15), COUNTING, 2, 4)).toBe(0xa129ca6149be45e5n)
})

test('the fast one has the same results, for all texts and secrets', () => {
  const secrets = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 16, maxLength: 16 })
  const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
  fc.assert(
    fc.property(units, secrets, (text, secret) => {
      const bytes = text.flatMap((unit) => [unit & 255, unit >> 8])
      sipHash(String.fromCharCode(...text), new Int32Array(Uint8Array.from(secret).buffer))
      const fast = (BigInt(sipHashed.high >>> 0) << 32n) | BigInt(sipHashed.low >>> 0)
      expect(fast).toBe(slowly(bytes, secret, 1, 3))
    }),
  )
})

test('the secret may stand anywhere in memory', () => {
  const secret = Int32Array.of(0, 0, 5, 6, 7, 8)
  sipHash('alice', secret, 2)
  const { low, high } = sipHashed
  sipHash('alice', secret.subarray(2))
  expect({ low, high }).toEqual({ ...sipHashed })
})
