import net from 'node:net'
import tls, { type PeerCertificate } from 'node:tls'
import { type AltName, readSubjectAltNames } from '../subject-alt-names.ts'

/**
 * Checks that a certificate has one of `names` as a subject alternative name: a URI that is equal, an IP address, or a DNS name that is
 * equal or matches a wildcard of the certificate (RFC 9525).
 * @returns undefined if it has
 */
export function checkSubjectAltNames(names: readonly string[], certificate: PeerCertificate): Error | undefined {
  const carried = readSubjectAltNames(certificate.subjectaltname ?? '')
  if (names.some((name) => isCarried(name, carried, certificate))) return undefined
  const error = new Error('the certificate contains none of the accepted names')
  // The code that Node uses when the host does not match.
  return Object.assign(error, { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
}

function isCarried(name: string, carried: readonly AltName[], certificate: PeerCertificate): boolean {
  if (net.isIP(name) === 0 && name.includes(':'))
    return carried.some(({ type, value }) => type === 'URI' && value === name)
  const wanted = net.isIP(name) === 0 ? 'DNS' : 'IP Address'
  // Without a name of that type, Node would use the common name.
  return carried.some(({ type }) => type === wanted) && tls.checkServerIdentity(name, certificate) === undefined
}
