import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { digestKey, sha256, sha256OfByteText } from './sha256.ts'

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

// NIST, "SHA-256 examples", and the empty message.
const published = [
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
] as const

for (const [text, digest] of published) {
  test(`digest of "${text}"`, () => {
    expect(sha256OfByteText(text)).toBe(digest)
  })
}

test('agrees with an independent implementation at every length around block borders', () => {
  for (let length = 0; length <= 260; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + length) & 255)
    expect(hexOf(sha256(bytes))).toBe(createHash('sha256').update(bytes).digest('hex'))
  }
})

test('a key is another form of the digest, at every length and for every byte', () => {
  for (let length = 0; length <= 260; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + length) & 255)
    const key = digestKey(String.fromCharCode(...bytes))
    const units = Array.from({ length: key.length }, (_, i) => key.charCodeAt(i).toString(16).padStart(4, '0'))
    expect(units.join('')).toBe(hexOf(sha256(bytes)))
  }
})

test('a long message does not affect a later short one', () => {
  sha256(new Uint8Array(5000).fill(255))
  expect(hexOf(sha256(new Uint8Array()))).toBe(published[0][1])
})
