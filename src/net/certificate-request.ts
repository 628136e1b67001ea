/** A new key, and a request for a certificate for it. */
export interface CertificateRequest {
  /** PKCS #10 (RFC 2986), DER. */
  readonly csr: Uint8Array
  /** PKCS #8, PEM. It is a secret. */
  readonly key: string
}

/** A name that the certificate is to have: a host name, or a URI. */
export interface RequestedName {
  readonly type: 'dns' | 'url'
  readonly value: string
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** Each certificate has a new key: one that leaked is of no use after the renewal. */
export async function createRequest(names: readonly RequestedName[]): Promise<CertificateRequest> {
  // The library needs it, and both are loaded only when a certificate is asked for.
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const { subtle } = globalThis.crypto
  const keys = await subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.SubjectAlternativeNameExtension([...names])],
  })
  const pkcs8 = new Uint8Array(await subtle.exportKey('pkcs8', keys.privateKey))
  return { csr: new Uint8Array(request.rawData), key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY') }
}
