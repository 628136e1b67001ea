import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { sha256, sha256OfByteText } from './sha256.ts'

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
    expect(Buffer.from(sha256(bytes)).toString('hex')).toBe(createHash('sha256').update(bytes).digest('hex'))
  }
})

test('every byte value counts', () => {
  const text = String.fromCharCode(...Array.from({ length: 256 }, (_, i) => i))
  expect(sha256OfByteText(text)).toBe(createHash('sha256').update(text, 'latin1').digest('hex'))
})
