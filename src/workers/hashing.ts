import { createHmac, hash } from 'node:crypto'
import type { Hashing } from '#base/hashing.ts'

/** `Hashing` with the cryptography of Node. */
export const HASHING: Hashing = {
  sha256: (data) => hash('sha256', typeof data === 'string' ? Buffer.from(data, 'latin1') : data, 'hex'),
  hmacSha256: (key, text) =>
    createHmac('sha256', typeof key === 'string' ? Buffer.from(key, 'latin1') : key)
      .update(text, 'latin1')
      .digest(),
}
