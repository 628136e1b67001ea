import 'reflect-metadata'
import * as x509 from '@peculiar/x509'
import { clock } from '#base/clock.ts'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const DAY_MS = 86_400_000

/** Test support: authorities and certificates that are made for one test. */

export const newKeys = () => globalThis.crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])

export type Keys = Awaited<ReturnType<typeof newKeys>>

/** Start and end of a certificate, in milliseconds from now. */
export interface Span {
  readonly fromMs?: number
  readonly forMs?: number
}

function datesOf({ fromMs = -60_000, forMs = DAY_MS }: Span) {
  // Certificates have whole seconds.
  return { notBefore: new Date(clock.now() + fromMs), notAfter: new Date(clock.now() + forMs) }
}

/** An authority that issues certificates. */
export interface Authority {
  readonly certificate: x509.X509Certificate
  readonly keys: Keys
  /** Its certificate. */
  readonly pem: string
}

/** @param issuer undefined: it is a root */
export async function newAuthority(name: string, issuer?: Authority, span: Span = {}): Promise<Authority> {
  const keys = await newKeys()
  const certificate = await x509.X509CertificateGenerator.create({
    ...datesOf({ forMs: 3650 * DAY_MS, ...span }),
    subject: `CN=${name}`,
    issuer: issuer?.certificate.subject ?? `CN=${name}`,
    publicKey: keys.publicKey,
    signingKey: (issuer?.keys ?? keys).privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  })
  return { certificate, keys, pem: certificate.toString('pem') }
}

export interface LeafOptions extends Span {
  readonly uris?: readonly string[]
  readonly hosts?: readonly string[]
}

/** @returns PEM */
export async function issue(issuer: Authority, publicKey: Keys['publicKey'], options: LeafOptions): Promise<string> {
  const { uris = [], hosts = [] } = options
  const names = [
    ...uris.map((value) => ({ type: 'url' as const, value })),
    ...hosts.map((value) => ({
      type: value.includes(':') || /^[0-9.]+$/.test(value) ? ('ip' as const) : ('dns' as const),
      value,
    })),
  ]
  const certificate = await x509.X509CertificateGenerator.create({
    ...datesOf(options),
    issuer: issuer.certificate.subject,
    publicKey,
    signingKey: issuer.keys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)],
  })
  return certificate.toString('pem')
}

export async function pemOfKey({ privateKey }: Keys): Promise<string> {
  const pkcs8 = new Uint8Array(await globalThis.crypto.subtle.exportKey('pkcs8', privateKey))
  return x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')
}
