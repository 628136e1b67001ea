import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'

/** A pair of keys of a realm. */
export interface RealmKey {
  readonly kid: string
  /** `sig`: RS256. `enc`: published, as providers do, and used for nothing. */
  readonly use: 'sig' | 'enc'
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

const BITS = 2048
/** Tokens of older keys have expired long since. */
const MAX_KEYS = 5

const generate = promisify(generateKeyPair)

export async function createKey(use: RealmKey['use'] = 'sig'): Promise<RealmKey> {
  const { publicKey, privateKey } = await generate('rsa', { modulusLength: BITS })
  return { kid: randomUUID(), use, privateKey, publicKey }
}

/** Tokens are signed with the new key from now on; those of the old ones stay valid. */
export function withNewKey(keys: readonly RealmKey[], key: RealmKey): readonly RealmKey[] {
  return [key, ...keys].slice(0, MAX_KEYS)
}

/** The key that signs. */
export function signingKey(keys: readonly RealmKey[]): RealmKey {
  return keys.find(({ use }) => use === 'sig')!
}

/** The body of the key-set endpoint (RFC 7517). */
export function keySet(keys: readonly RealmKey[]): object {
  return {
    keys: keys.map(({ kid, use, publicKey }) => ({
      ...publicKey.export({ format: 'jwk' }),
      kid,
      use,
      alg: use === 'sig' ? 'RS256' : 'RSA-OAEP',
    })),
  }
}

/** A key as the state file has it. */
export interface StoredKey {
  readonly kid: string
  readonly use: RealmKey['use']
  /** PKCS #8, PEM. */
  readonly privateKey: string
}

export function storedKey({ kid, use, privateKey }: RealmKey): StoredKey {
  return { kid, use, privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string }
}

export function keyFrom({ kid, use, privateKey }: StoredKey): RealmKey {
  return { kid, use, privateKey: createPrivateKey(privateKey), publicKey: createPublicKey(privateKey) }
}
