/**
 * Checks of PEM material that need a TLS library, passed in as functions. Each returns a description of the fault without any secret;
 * undefined: no fault. Time does not matter: an expired certificate is not a fault.
 */
export interface TlsMaterialCheck {
  /** A certificate, optionally with its chain, and its key: whether a TLS peer can use them to authenticate. */
  pairFault(cert: string, key: string): string | undefined
  /** Certificates of authorities. */
  authoritiesFault(pem: string): string | undefined
}

/** For use without a TLS library: accepts everything in PEM format. */
export const UNCHECKED_MATERIAL: TlsMaterialCheck = {
  pairFault: () => undefined,
  authoritiesFault: () => undefined,
}
