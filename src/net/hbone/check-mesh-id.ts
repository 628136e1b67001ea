import type { PeerCertificate } from 'node:tls'
import { readSubjectAltNames } from '../subject-alt-names.ts'

/**
 * Checks that a certificate is one of a workload with that SPIFFE id: it has exactly one URI, which is the id (SPIFFE X.509-SVID, 2).
 * @returns undefined if it is
 */
export function checkMeshId(id: string, certificate: PeerCertificate): Error | undefined {
  const uris = readSubjectAltNames(certificate.subjectaltname ?? '').filter(({ type }) => type === 'URI')
  if (uris.length === 1 && uris[0]!.value === id) return undefined
  const found = uris.length === 0 ? 'no SPIFFE id' : uris.map(({ value }) => value).join(' and ')
  const error = new Error(`the certificate has ${found} instead of ${id}`)
  // The code that Node uses when the host does not match.
  return Object.assign(error, { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
}
