/** Signature algorithms: the `alg` values that the gateway accepts (RFC 7518, 3.1; RFC 8037, 3.1; decision A-55). */
export type SignatureAlgorithm =
  | `${'RS' | 'PS' | 'ES'}${'256' | '384' | '512'}`
  // Only with Ed25519.
  | 'EdDSA'

/** The public members of a key as JSON (RFC 7517, 4; RFC 7518, 6; RFC 8037, 2). */
export type PublicJwk =
  | { readonly kty: 'RSA'; readonly n: string; readonly e: string }
  | { readonly kty: 'EC'; readonly crv: 'P-256' | 'P-384' | 'P-521'; readonly x: string; readonly y: string }
  | { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string }

/** A public key, imported. */
export interface VerifyingKey {
  /** Whether the owner of the key signed these bytes. The algorithm must match the type of the key. */
  verify(algorithm: SignatureAlgorithm, signed: Uint8Array, signature: Uint8Array): boolean
}

/**
 * Imports a key. Passed in by the caller of the engine, which has no cryptography.
 * @returns undefined if the members do not form a key
 */
export type ImportKey = (jwk: PublicJwk) => VerifyingKey | undefined
