import type { TlsMaterialCheck } from '#base/tls-material.ts'
import type { SecretMaterial } from '../../policy.ts'

/** A certificate and its key, in PEM format. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** The certificate of a Secret that authenticates the gateway. @returns why it cannot be used, if so */
export function readKeyPair(
  secret: SecretMaterial | undefined,
  name: string,
  check: TlsMaterialCheck,
): KeyPair | string {
  if (secret === undefined) return `Secret ${name} does not exist`
  const { 'tls.crt': cert, 'tls.key': key } = secret.data
  if (!isPem(cert) || !isPem(key)) return `Secret ${name} has no PEM text in tls.crt and tls.key`
  const fault = check.pairFault(cert, key)
  return fault === undefined ? { cert, key } : `Secret ${name}: ${fault}`
}

export function isPem(text: string | undefined): text is string {
  return text?.includes('-----BEGIN ') ?? false
}
