import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { PublicJwk, SignatureAlgorithm, VerifyingKey } from '#base/verifying-key.ts'

/** An `ImportKey` with the cryptography of Node. It is synchronous, because a check takes microseconds. */
export function importKey(jwk: PublicJwk): VerifyingKey | undefined {
  const key = publicKeyOf(jwk)
  if (key === undefined) return undefined
  return {
    verify: (algorithm, signed, signature) =>
      verify(digestOf(algorithm), signed, { key, ...FORMS[algorithm.slice(0, 2)] }, signature),
  }
}

/** Encodings of the signature by family (RFC 7518, 3.3 to 3.5; RFC 8037, 3.1). */
const FORMS: Readonly<Record<string, object>> = {
  RS: { padding: constants.RSA_PKCS1_PADDING },
  PS: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
  ES: { dsaEncoding: 'ieee-p1363' },
  Ed: {},
}

/** Ed25519 includes its digest. */
function digestOf(algorithm: SignatureAlgorithm): string | null {
  return algorithm === 'EdDSA' ? null : `sha${algorithm.slice(2)}`
}

function publicKeyOf(jwk: PublicJwk): KeyObject | undefined {
  try {
    return createPublicKey({ format: 'jwk', key: { ...jwk } })
  } catch {
    // Invalid key, for example a point that is not on its curve, or text that is not base64url.
    return undefined
  }
}
