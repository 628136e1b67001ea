import { clock } from '#base/clock.ts'

/** PEM texts of a server's own authority and certificate. */
export interface ServerCertificate {
  /** The authority, which clients trust. */
  readonly ca: string
  /** The certificate of the server, followed by nothing: clients have the authority. */
  readonly certificate: string
  readonly key: string
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const DAY_MS = 24 * 60 * 60_000
/** Clients get the authority from the kubeconfig, and nobody else trusts it. */
const VALID_MS = 3650 * DAY_MS

/**
 * Makes an authority and a server certificate for clients that get the authority from us. Its key is not kept, so nobody can issue a second one.
 * @param names DNS names and IP addresses of the server
 * @param validMs life of both, in milliseconds
 */
export async function createCertificate(
  names: { readonly dns: readonly string[]; readonly ips: readonly string[] },
  validMs = VALID_MS,
): Promise<ServerCertificate> {
  // The library needs it, and both are loaded only by the first start of a gateway.
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const { subtle } = globalThis.crypto
  const [authority, server] = await Promise.all([keyPair(), keyPair()])
  // The clock of a client may be behind.
  const earlierMs = Math.min(DAY_MS, validMs / 100)
  const times = { notBefore: new Date(clock.now() - earlierMs), notAfter: new Date(clock.now() + validMs) }
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...times,
    name: 'CN=Gatewright API',
    keys: authority,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      // Clients may trust several authorities of this name.
      await x509.SubjectKeyIdentifierExtension.create(authority.publicKey),
    ],
  })
  const certificate = await x509.X509CertificateGenerator.create({
    ...times,
    subject: 'CN=gatewright',
    issuer: ca.subject,
    publicKey: server.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey),
      new x509.SubjectAlternativeNameExtension([
        ...names.dns.map((value) => ({ type: 'dns' as const, value })),
        ...names.ips.map((value) => ({ type: 'ip' as const, value })),
      ]),
    ],
  })
  const pkcs8 = new Uint8Array(await subtle.exportKey('pkcs8', server.privateKey))
  return {
    ca: ca.toString('pem'),
    certificate: certificate.toString('pem'),
    key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY'),
  }
}

function keyPair() {
  return globalThis.crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
}
