import type { KeyExchangeGroup } from './tls-lists.ts'

const OPENSSL_NAMES: Readonly<Record<KeyExchangeGroup, string>> = {
  X25519: 'X25519',
  'P-256': 'P-256',
  'P-384': 'P-384',
  X25519_MLKEM768: 'X25519MLKEM768',
}

/**
 * Groups as OpenSSL lists them, each preferred strictly to those behind it; undefined: its own list.
 * A colon would put them on a level, where the other side's guess wins.
 */
export function compileGroups(groups: readonly KeyExchangeGroup[] | undefined): string | undefined {
  if (groups === undefined || groups.length === 0) return undefined
  return groups.map((group) => OPENSSL_NAMES[group]).join('/')
}
