import {
  constants,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  type SignKeyObjectInput,
  sign,
} from 'node:crypto'

/** A key as JSON (RFC 7517). */
export type Jwk = Readonly<Record<string, unknown>>

/** A key pair of a token issuer. Node signs the tokens, so that the tests do not depend on code of the gateway. */
export interface SigningKey {
  readonly privateKey: KeyObject
  /** The public key with a `kid`, as in a key set. */
  readonly jwk: Jwk
}

export type KeyKind = 'RSA' | 'RSA-1024' | 'P-256' | 'P-384' | 'P-521' | 'Ed25519'

export function createSigningKey(kind: KeyKind, kid = `key-${kind}`): SigningKey {
  const { publicKey, privateKey } = generate(kind)
  return { privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid } }
}

function generate(kind: KeyKind): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  if (kind === 'Ed25519') return generateKeyPairSync('ed25519')
  if (kind === 'RSA' || kind === 'RSA-1024') {
    return generateKeyPairSync('rsa', { modulusLength: kind === 'RSA' ? 2048 : 1024 })
  }
  return generateKeyPairSync('ec', { namedCurve: kind })
}

export function keySetOf(...keys: (SigningKey | Jwk)[]): string {
  return JSON.stringify({ keys: keys.map((key) => ('privateKey' in key ? key.jwk : key)) })
}

/** A signed token in compact form. The header has `alg` and `kid`; members of `header` are added, `undefined` removes one. */
export function signToken(
  { privateKey, jwk }: SigningKey,
  alg: string,
  claims: object | string,
  header: object = {},
): string {
  const text = typeof claims === 'string' ? claims : JSON.stringify(claims)
  const signed = `${encode(JSON.stringify({ alg, kid: jwk.kid, ...header }))}.${encode(text)}`
  const digest = alg === 'EdDSA' ? null : `sha${alg.slice(2)}`
  const signature = sign(digest, Buffer.from(signed), { key: privateKey, ...FORMS[alg.slice(0, 2)] })
  return `${signed}.${signature.toString('base64url')}`
}

const FORMS: Readonly<Record<string, Omit<SignKeyObjectInput, 'key'>>> = {
  PS: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
  ES: { dsaEncoding: 'ieee-p1363' },
}

export function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/** The key as a JWK including the private members, as an operator might publish it by mistake. */
export function privateJwkOf({ privateKey, jwk }: SigningKey): Jwk {
  return { ...createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' })).export({ format: 'jwk' }), ...jwk }
}
