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

const WHOLE_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** The complete certificates of a text in PEM. */
export function certificatesIn(pem: string): readonly string[] {
  return pem.match(WHOLE_CERTIFICATE) ?? []
}

const CERTIFICATE = '-----BEGIN CERTIFICATE-----'
const PRIVATE_KEY = 'PRIVATE KEY-----'

/** Why entries "tls.crt" and "tls.key" of a Secret are no usable pair; the text contains no value. */
export function certificateFault(cert: string, key: string, check: TlsMaterialCheck): string | undefined {
  if (!cert.includes(CERTIFICATE)) {
    if (!cert.includes(PRIVATE_KEY)) return 'entry "tls.crt" is not in PEM form'
    const swapped = key.includes(CERTIFICATE) ? ', and entry "tls.key" holds a certificate: swap them' : ''
    return `entry "tls.crt" holds a private key${swapped}`
  }
  if (key.includes(PRIVATE_KEY)) return check.pairFault(cert, key)
  return `entry "tls.key" ${key.includes(CERTIFICATE) ? 'holds a certificate, no private key' : 'is not in PEM form'}`
}
