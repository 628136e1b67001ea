import { type KeyHolder, missingKey } from '#base/missing-key.ts'
import type { TlsMaterialCheck } from '#base/tls-material.ts'

const ENTRY = 'ca.crt'

/** Why a ConfigMap or Secret has no certificate authorities; undefined: it has. */
export function authorityFault(
  holder: KeyHolder,
  data: Readonly<Record<string, string>>,
  tlsMaterial: TlsMaterialCheck,
): string | undefined {
  const missing = missingKey(holder, data, [ENTRY])
  if (missing !== undefined) return missing
  const { [ENTRY]: pem = '' } = data
  const fault = pem.includes('-----BEGIN CERTIFICATE-----')
    ? tlsMaterial.authoritiesFault(pem)
    : `entry "${ENTRY}" is not in PEM form`
  return fault && `${holder.kind} ${holder.namespace}/${holder.name}: ${fault}`
}
