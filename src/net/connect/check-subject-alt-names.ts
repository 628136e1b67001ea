import net from 'node:net'
import tls, { type PeerCertificate } from 'node:tls'
import { type AltName, readSubjectAltNames } from '../subject-alt-names.ts'

/**
 * Whether a certificate carries one of `names` as a subject alternative name: a URI as it is, an IP address, or a DNS name, which
 * a wildcard of the certificate may cover (RFC 9525).
 * @returns undefined when it does
 */
export function checkSubjectAltNames(names: readonly string[], certificate: PeerCertificate): Error | undefined {
  const carried = readSubjectAltNames(certificate.subjectaltname ?? '')
  if (names.some((name) => isCarried(name, carried, certificate))) return undefined
  const error = new Error('the certificate contains none of the accepted names')
  // As Node says of a host that is not named.
  return Object.assign(error, { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
}

function isCarried(name: string, carried: readonly AltName[], certificate: PeerCertificate): boolean {
  if (net.isIP(name) === 0 && name.includes(':'))
    return carried.some(({ type, value }) => type === 'URI' && value === name)
  const wanted = net.isIP(name) === 0 ? 'DNS' : 'IP Address'
  // Without a name of that kind Node would go by the common name.
  return carried.some(({ type }) => type === wanted) && tls.checkServerIdentity(name, certificate) === undefined
}
