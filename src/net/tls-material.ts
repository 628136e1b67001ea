import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { type CertificateValidity, certificatesIn, type TlsMaterialCheck } from '#base/tls-material.ts'
import { readSubjectAltNames } from './subject-alt-names.ts'

/** Size of the cache of results; the same texts are checked repeatedly. */
const MAX_CACHED = 4096

/** Checks with the TLS library of Node. */
export const TLS_MATERIAL: TlsMaterialCheck = {
  pairFault: remembering(pairFault),
  authoritiesFault: remembering(authoritiesFault),
  validity: remembering(validity),
}

function pairFault(cert: string, key: string): string | undefined {
  const certificate = attempt(() => new X509Certificate(cert))
  if (!(certificate instanceof X509Certificate)) return 'the certificate cannot be read'
  const privateKey = attempt(() => createPrivateKey(key))
  if (privateKey instanceof Error) return isEncrypted(key) ? 'the key is encrypted' : 'the key cannot be read'
  if (!certificate.checkPrivateKey(privateKey)) return 'the certificate and the key do not match'
  // Remaining errors: a key that is too weak, an invalid chain.
  const context = attempt(() => createSecureContext({ cert, key }))
  return context instanceof Error ? `TLS rejects it (${codeOf(context)})` : undefined
}

function authoritiesFault(pem: string): string | undefined {
  const certificates = certificatesIn(pem)
  if (certificates.length === 0) return 'it contains no complete certificate'
  const bad = certificates.findIndex((text) => attempt(() => new X509Certificate(text)) instanceof Error)
  if (bad < 0) return undefined
  return certificates.length === 1 ? 'the certificate cannot be read' : `certificate ${bad + 1} cannot be read`
}

function validity(cert: string): CertificateValidity | undefined {
  const certificate = attempt(() => new X509Certificate(cert))
  if (!(certificate instanceof X509Certificate)) return undefined
  const { validFromDate, validToDate, subjectAltName = '', subject } = certificate
  const dns = readSubjectAltNames(subjectAltName).filter(({ type }) => type === 'DNS')
  const common = subjectAltName === '' ? /^CN=(.+)$/m.exec(subject)?.[1] : undefined
  return {
    fromMs: validFromDate.getTime(),
    untilMs: validToDate.getTime(),
    names: common === undefined ? dns.map(({ value }) => value.toLowerCase()) : [common.toLowerCase()],
  }
}

/** PKCS #8 (RFC 7468, 11) and the older OpenSSL format. */
function isEncrypted(key: string): boolean {
  return key.includes('-----BEGIN ENCRYPTED PRIVATE KEY-----') || key.includes('Proc-Type: 4,ENCRYPTED')
}

function attempt<T>(read: () => T): T | Error {
  try {
    return read()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.name
}

function remembering<Texts extends string[], Result>(find: (...texts: Texts) => Result | undefined): typeof find {
  const found = new Map<string, Result | undefined>()
  return (...texts) => {
    const key = texts.join('\0')
    if (found.has(key)) return found.get(key)
    if (found.size >= MAX_CACHED) found.clear()
    const fault = find(...texts)
    found.set(key, fault)
    return fault
  }
}
