import { createHash, timingSafeEqual } from 'node:crypto'

const PREFIX = '{SHA}'

/** SHA-1 without salt, the only fast format. */
export function isSha1(hash: string): boolean {
  return hash.startsWith(PREFIX)
}

export function sha1Hash(password: string): string {
  return PREFIX + createHash('sha1').update(password).digest('base64')
}

/** Compares hashes in constant time; their lengths are no secret. */
export function equalHashes(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
