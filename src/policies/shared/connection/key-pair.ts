import { missingKey } from '#base/missing-key.ts'
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
  { namespace, name }: { readonly namespace: string; readonly name: string },
  check: TlsMaterialCheck,
): KeyPair | string {
  const missing = missingKey({ kind: 'Secret', namespace, name }, secret?.data, ['tls.crt'], ['tls.key'])
  if (secret === undefined || missing !== undefined) return missing!
  const { 'tls.crt': cert, 'tls.key': key } = secret.data
  if (!isPem(cert) || !isPem(key)) return `Secret ${namespace}/${name} has no PEM text in tls.crt and tls.key`
  const fault = check.pairFault(cert, key)
  return fault === undefined ? { cert, key } : `Secret ${namespace}/${name}: ${fault}`
}

export function isPem(text: string | undefined): text is string {
  return text?.includes('-----BEGIN ') ?? false
}
