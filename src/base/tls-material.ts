/**
 * What only a TLS library can tell of PEM material, handed to those who have none. Each function says what is wrong, without a word of
 * what is secret; undefined: nothing. The time does not count: a certificate that has expired is sound.
 */
export interface TlsMaterialCheck {
  /** A certificate, possibly with its chain, and its key: whether a TLS peer can prove itself with them. */
  pairFault(cert: string, key: string): string | undefined
  /** Certificates that vouch for others. */
  authoritiesFault(pem: string): string | undefined
}

/** Where there is no TLS library: what has the form of PEM is believed. */
export const UNCHECKED_MATERIAL: TlsMaterialCheck = {
  pairFault: () => undefined,
  authoritiesFault: () => undefined,
}
