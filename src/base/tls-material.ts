/**
 * Checks of PEM material that need a TLS library, passed in as functions. Each returns a description of the fault without any secret;
 * undefined: no fault. Time does not matter for faults: an expired certificate is used.
 */
export interface TlsMaterialCheck {
  /** A certificate, optionally with its chain, and its key: whether a TLS peer can use them to authenticate. */
  pairFault(cert: string, key: string): string | undefined
  /** Certificates of authorities. */
  authoritiesFault(pem: string): string | undefined
  /** What a certificate without a fault is valid for; undefined: unknown. */
  validity(cert: string): CertificateValidity | undefined
}

/** When and for which names a certificate is valid. */
export interface CertificateValidity {
  /** Milliseconds since the epoch. */
  readonly fromMs: number
  readonly untilMs: number
  /** DNS names, such as `*.example.com`. */
  readonly names: readonly string[]
}

/** For use without a TLS library: accepts everything in PEM format. */
export const UNCHECKED_MATERIAL: TlsMaterialCheck = {
  pairFault: () => undefined,
  authoritiesFault: () => undefined,
  validity: () => undefined,
}
