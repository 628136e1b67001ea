import { clock } from '#base/clock.ts'

/** PEM texts of the API server's own authority and certificate. */
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
 * Makes an authority and a server certificate for local clients. The key of the authority is not kept, so nobody can issue a second one.
 * @param names DNS names and IP addresses of the server
 */
export async function createCertificate(names: {
  readonly dns: readonly string[]
  readonly ips: readonly string[]
}): Promise<ServerCertificate> {
  // The library needs it, and both are loaded only by the first start of a gateway.
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const { subtle } = globalThis.crypto
  const [authority, server] = await Promise.all([keyPair(), keyPair()])
  const times = { notBefore: new Date(clock.now() - DAY_MS), notAfter: new Date(clock.now() + VALID_MS) }
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...times,
    serialNumber: '01',
    name: 'CN=Gatewright API',
    keys: authority,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  })
  const certificate = await x509.X509CertificateGenerator.create({
    ...times,
    serialNumber: '02',
    subject: 'CN=gatewright',
    issuer: ca.subject,
    publicKey: server.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
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
