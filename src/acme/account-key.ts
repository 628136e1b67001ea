import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** The public part of a key, with its members in the order that thumbprints need (RFC 7638, 3.2). */
interface PublicJwk {
  readonly crv: string
  readonly kty: string
  readonly x: string
  readonly y: string
}

/** The key of an account at ACME servers: ECDSA with P-256. The private part leaves it only as `pem`. */
export class AccountKey {
  readonly #key: KeyObject
  readonly jwk: PublicJwk
  /** Of the public key (RFC 7638), which everybody may know. */
  readonly thumbprint: string

  private constructor(key: KeyObject) {
    this.#key = key
    const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' })
    if (kty !== 'EC' || crv !== 'P-256' || x === undefined || y === undefined) throw new Error('it is not a P-256 key')
    this.jwk = { crv, kty, x, y }
    this.thumbprint = createHash('sha256').update(JSON.stringify(this.jwk)).digest('base64url')
  }

  static create(): AccountKey {
    return new AccountKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
  }

  /** @throws Error if the text is no such key */
  static read(pem: string): AccountKey {
    return new AccountKey(createPrivateKey(pem))
  }

  get pem(): string {
    return this.#key.export({ format: 'pem', type: 'pkcs8' }).toString()
  }

  /** A signed request (RFC 8555, 6.2; RFC 7515, flattened JSON). @param payload undefined: an empty one, which reads (6.3) */
  sign(header: Readonly<Record<string, unknown>>, payload: unknown): string {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const encoded = {
      protected: part({ alg: 'ES256', ...header }),
      payload: payload === undefined ? '' : part(payload),
    }
    const signed = sign('sha256', Buffer.from(`${encoded.protected}.${encoded.payload}`), {
      key: this.#key,
      dsaEncoding: 'ieee-p1363',
    })
    return JSON.stringify({ ...encoded, signature: signed.toString('base64url') })
  }
}
