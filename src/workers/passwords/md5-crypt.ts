import { createHash } from 'node:crypto'
import { crypt64 } from './crypt64.ts'

const ROUNDS = 1000

/** Bytes of the digest, three for each four characters of the text. */
const ORDER = [0, 6, 12, 1, 7, 13, 2, 8, 14, 3, 9, 15, 4, 10, 5]

/**
 * The hash of `$1$` and of Apache's `$apr1$`, which differ only in this prefix (Poul-Henning Kamp's MD5 crypt).
 * @returns the 22 characters after the salt
 */
export function md5Crypt(password: Uint8Array, salt: string, prefix: '$1$' | '$apr1$'): string {
  const saltBytes = Buffer.from(salt)
  const { length } = password
  const inner = md5([password, saltBytes, password])
  const parts: Uint8Array[] = [password, Buffer.from(prefix), saltBytes, Buffer.alloc(length, inner)]
  for (let bits = length; bits > 0; bits >>= 1) parts.push((bits & 1) === 1 ? NUL : password.subarray(0, 1))
  let digest = md5(parts)
  for (let round = 0; round < ROUNDS; round++) {
    const odd = (round & 1) === 1
    const of: Uint8Array[] = [odd ? password : digest]
    if (round % 3 !== 0) of.push(saltBytes)
    if (round % 7 !== 0) of.push(password)
    of.push(odd ? digest : password)
    digest = md5(of)
  }
  let text = ''
  for (let i = 0; i < ORDER.length; i += 3) {
    text += crypt64((digest[ORDER[i]!]! << 16) | (digest[ORDER[i + 1]!]! << 8) | digest[ORDER[i + 2]!]!, 4)
  }
  return text + crypt64(digest[11]!, 2)
}

const NUL = new Uint8Array(1)

function md5(parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('md5')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
