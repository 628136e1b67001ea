import type { TlsMaterialCheck } from '#base/tls-material.ts'
import { missingEntry } from './missing-entry.ts'

const ENTRY = 'ca.crt'

/** Why the entries of a ConfigMap or Secret contain no certificate authorities; undefined: they do. */
export function authorityFault(
  data: Readonly<Record<string, string>>,
  tlsMaterial: TlsMaterialCheck,
): string | undefined {
  const pem = data[ENTRY]
  if (pem === undefined) return missingEntry([ENTRY], Object.keys(data))
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) return `entry "${ENTRY}" is not in PEM form`
  return tlsMaterial.authoritiesFault(pem)
}
