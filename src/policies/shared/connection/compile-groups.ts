import type { KeyExchangeGroup } from './tls-lists.ts'

const OPENSSL_NAMES: Readonly<Record<KeyExchangeGroup, string>> = {
  X25519: 'X25519',
  'P-256': 'P-256',
  'P-384': 'P-384',
  X25519_MLKEM768: 'X25519MLKEM768',
}

/**
 * Groups in the list format of OpenSSL, in strict order of preference; undefined: the default list of OpenSSL. Groups separated by a colon
 * would have equal preference, and the peer's key share would decide.
 */
export function compileGroups(groups: readonly KeyExchangeGroup[] | undefined): string | undefined {
  if (groups === undefined || groups.length === 0) return undefined
  return groups.map((group) => OPENSSL_NAMES[group]).join('/')
}
