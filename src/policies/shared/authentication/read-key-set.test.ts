import { expect, test } from 'vitest'
import { importKey } from '#test/support/import-key.ts'
import { createSigningKey, type KeyKind } from '#test/support/token-issuer.ts'
import { hasPrivateKey, readKeySet } from './read-key-set.ts'

const { jwk } = createSigningKey('P-256', 'k')
const setOf = (count: number) =>
  JSON.stringify({ keys: Array.from({ length: count }, (_, i) => ({ ...jwk, kid: `k${i}` })) })

test('a set has at most a thousand keys', () => {
  expect(readKeySet(setOf(1000), importKey)).toMatchObject({ faults: [] })
  expect(readKeySet(setOf(1000), importKey).keys.size).toBe(1000)
  expect(readKeySet(setOf(1001), importKey)).toEqual({ keys: new Map(), faults: ['has more than 1000 keys'] })
})

test.each([
  ['the public part of a key', { keys: [jwk] }, false],
  ['a private key behind a public one', { keys: [jwk, { ...jwk, d: 'x' }] }, true],
  ['a symmetric key', { keys: [{ kty: 'oct', k: 'x' }] }, true],
  ['no object', { keys: [null] }, false],
  ['no keys', {}, false],
])('whether a set with %s has a private key', (_, set, expected) => {
  expect(hasPrivateKey(JSON.stringify(set))).toBe(expected)
})

test.each([
  ['an algorithm of its type', { alg: 'ES256' }, ['ES256']],
  ['no algorithm', { alg: undefined }, ['ES256']],
])('a key with %s verifies tokens of it', (_, members, algorithms) => {
  const { keys, faults } = readKeySet(JSON.stringify({ keys: [{ ...jwk, kid: 'k', ...members }] }), importKey)
  expect(faults).toEqual([])
  expect(keys.get('k')?.map((key) => key.algorithms)).toEqual([algorithms])
})

const NO_XY = 'it has no "x" or no "y"'
const NO_NE = 'it has no "n" or no "e"'
const RSA = { kid: 'k', kty: 'RSA', n: 'f'.repeat(342), e: 'AQAB' }
const OKP = { kid: 'k', kty: 'OKP', crv: 'Ed25519' }
test.each([
  ['no object', 1, 'it is not an object'],
  ['a list', [], 'it is not an object'],
  ['nothing', null, 'it is not an object'],
  ['no x', { ...jwk, x: undefined }, NO_XY],
  ['an x that is no text', { ...jwk, x: 1 }, NO_XY],
  ['a y that is no text', { ...jwk, y: 1 }, NO_XY],
  ['an x that is no coordinate', { ...jwk, x: 'AQAB' }, 'its members do not form a valid key'],
  ['no kid', { ...jwk, kid: undefined }, 'it has no "kid", so no token can refer to it'],
  ['an unknown type', { ...jwk, kty: 'X' }, 'its key type is not supported'],
  ['a symmetric type', { kid: 'k', kty: 'oct', k: 'AQAB' }, undefined],
  ['an RSA key without n', { ...RSA, n: undefined }, NO_NE],
  ['an RSA key without e', { ...RSA, e: undefined }, NO_NE],
  ['a short RSA key', { ...RSA, n: 'AQAB' }, 'an RSA key must have at least 2048 bits'],
  ['an RSA key of nothing but zeros', { ...RSA, n: 'A'.repeat(342) }, 'an RSA key must have at least 2048 bits'],
  ['an RSA key that is no number', { ...RSA, n: '%' }, 'an RSA key must have at least 2048 bits'],
  ['a curve of Diffie-Hellman', { ...OKP, crv: 'X25519', x: 'AQAB' }, 'its curve is not supported'],
  ['an Ed25519 key without x', OKP, 'it has no "x"'],
  ['a short Ed25519 key', { ...OKP, x: 'AQAB' }, 'its members do not form a valid key'],
  ['the use of encryption', { ...jwk, use: 'enc' }, undefined],
  ['the operation of signing', { ...jwk, key_ops: ['sign'] }, undefined],
  ['operations that are no list', { ...jwk, key_ops: 'verify' }, undefined],
])('a key that is or has %s is left out, and the others work', (_, key, fault) => {
  const set = readKeySet(JSON.stringify({ keys: [key, { ...jwk, kid: 'other' }] }), importKey)
  expect(set.faults).toEqual(fault === undefined ? [] : [`keys[0] is not used: ${fault}`])
  expect([...set.keys.keys()]).toEqual(['other'])
})

test.each<[KeyKind, string[]]>([
  ['RSA', ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']],
  ['P-256', ['ES256']],
  ['P-384', ['ES384']],
  ['P-521', ['ES512']],
  ['Ed25519', ['EdDSA']],
])('a key %s verifies %j', (kind, algorithms) => {
  const { keys } = readKeySet(JSON.stringify({ keys: [createSigningKey(kind, 'k').jwk] }), importKey)
  expect(keys.get('k')?.map((key) => key.algorithms)).toEqual([algorithms])
})

test('a token tries at most 16 keys: others with the same kid are left out', () => {
  const same = JSON.stringify({ keys: Array.from({ length: 18 }, () => jwk) })
  const { keys, faults } = readKeySet(same, importKey)
  expect(keys.get('k')).toHaveLength(16)
  const fault = (index: number) => `keys[${index}] is not used: 16 other keys have the same "kid"`
  expect(faults).toEqual([fault(16), fault(17)])
})

/** A number of this many bits. */
function numberOf(bits: number): string {
  const bytes = Buffer.alloc(Math.ceil(bits / 8))
  bytes[0] = 1 << ((bits - 1) % 8)
  bytes[bytes.length - 1]! |= 1
  return bytes.toString('base64url')
}

test.each([
  [8192, 64, []],
  [8193, 17, ['keys[0] is not used: an RSA key must have at most 8192 bits']],
  [2048, 65, ['keys[0] is not used: its "e" must have at most 64 bits']],
])('a check of a signature is short: RSA with %i bits, e with %i', (bits, exponent, faults) => {
  const key = { ...RSA, n: numberOf(bits), e: numberOf(exponent) }
  expect(readKeySet(JSON.stringify({ keys: [key] }), importKey).faults).toEqual(faults)
})

test.each([
  [2047, false],
  [2048, true],
])('an RSA key of %i bits is used: %s', (bits, used) => {
  // One bit and nothing else, behind a byte of zeros.
  const number = Buffer.alloc(257)
  number[1] = bits === 2048 ? 0x80 : 0x7f
  number[256] = 1
  const key = { ...RSA, n: number.toString('base64url') }
  expect(readKeySet(JSON.stringify({ keys: [key] }), importKey).keys.size).toBe(used ? 1 : 0)
})

test.each([
  ['{', 'is not JSON'],
  ['[]', 'is not a JSON Web Key Set: it has no array "keys"'],
  ['{"keys":{}}', 'is not a JSON Web Key Set: it has no array "keys"'],
  ['null', 'is not a JSON Web Key Set: it has no array "keys"'],
])('%s is no key set', (text, fault) => {
  expect(readKeySet(text, importKey)).toEqual({ keys: new Map(), faults: [fault] })
})

test('a key may name its use and its operations, and keys may share a kid', () => {
  const key = { ...jwk, kid: 'k' }
  const set = readKeySet(
    JSON.stringify({ keys: [key, { ...key, use: 'sig', key_ops: ['verify', 'sign'] }] }),
    importKey,
  )
  expect(set.keys.get('k')?.map((each) => each.algorithms)).toEqual([['ES256'], ['ES256']])
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
