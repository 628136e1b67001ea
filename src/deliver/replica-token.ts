import { createHash, hkdfSync, timingSafeEqual } from 'node:crypto'

const BYTES = 32

/**
 * The token with which replicas of a controller ask each other: all derive it from the private key that they share (HKDF, RFC 5869). It is a secret.
 * @param privateKey of the certificate of their servers, in PEM
 */
export function replicaToken(privateKey: string): string {
  return Buffer.from(hkdfSync('sha256', privateKey, '', 'gatewright replica token', BYTES)).toString('hex')
}

/** Whether a request is from another replica. @param authorization its field @param tokens those that replicas may have */
export function isReplica(authorization: string | undefined, tokens: readonly string[]): boolean {
  // Digests have one length, and comparing them tells nothing about the token.
  const given = digest(authorization ?? '')
  return tokens.filter((token) => timingSafeEqual(given, digest(`Bearer ${token}`))).length > 0
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
