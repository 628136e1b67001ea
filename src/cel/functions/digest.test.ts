import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { sha256 } from '#base/sha256.ts'
import { md5, sha1 } from './digest.ts'

const digests = { md5, sha1, sha256 } as const

/** Lengths around block boundaries, where the padding differs. */
const lengths = [0, 1, 3, 54, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 1000]

test.each(Object.entries(digests))('%s equals the digest of Node', (name, digest) => {
  for (const length of lengths) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + length) & 255)
    expect(digest(bytes).toHex()).toBe(createHash(name).update(bytes).digest('hex'))
  }
})
