import { compareSync } from 'bcryptjs'
import { desCrypt } from './des-crypt.ts'
import { md5Crypt } from './md5-crypt.ts'
import { SHA256, SHA512, shaCrypt } from './sha-crypt.ts'
import { equalHashes, isSha1, sha1Hash } from './sha1-hash.ts'

/**
 * Whether a password has a hash that `faultOfHash` accepts. The time depends on the hash only. Blocks the thread: bcrypt for up to a second.
 */
export function checkHash(password: string, hash: string): boolean {
  if (hash.startsWith('$2')) return compareSync(password, hash)
  return equalHashes(isSha1(hash) ? sha1Hash(password) : hashAs(hash, Buffer.from(password)), hash)
}

/** The hash of a password in the format and with the salt of another hash. */
function hashAs(hash: string, password: Uint8Array): string {
  if (!hash.startsWith('$')) return desCrypt(password, hash.slice(0, 2))
  const parts = hash.split('$')
  const setting = parts.slice(0, -1).join('$')
  const salt = parts.at(-2)!
  const digest =
    parts[1] === '5' || parts[1] === '6'
      ? shaCrypt(password, salt, parts[1] === '5' ? SHA256 : SHA512, roundsOf(parts[2]!))
      : md5Crypt(password, salt, parts[1] === '1' ? '$1$' : '$apr1$')
  return `${setting}$${digest}`
}

function roundsOf(part: string): number | undefined {
  return part.startsWith('rounds=') ? Number(part.slice('rounds='.length)) : undefined
}
