import net from 'node:net'
import tls, { type PeerCertificate } from 'node:tls'

/**
 * Whether a certificate carries one of `names` as a subject alternative name: a URI as it is, an IP address, or a DNS name, which
 * a wildcard of the certificate may cover (RFC 9525).
 * @returns undefined when it does
 */
export function checkSubjectAltNames(names: readonly string[], certificate: PeerCertificate): Error | undefined {
  const carried = subjectAltNames(certificate.subjectaltname ?? '')
  if (names.some((name) => isCarried(name, carried, certificate))) return undefined
  return new Error('the certificate carries none of the names that are accepted')
}

function isCarried(name: string, carried: readonly AltName[], certificate: PeerCertificate): boolean {
  if (net.isIP(name) === 0 && name.includes(':'))
    return carried.some(({ type, value }) => type === 'URI' && value === name)
  const wanted = net.isIP(name) === 0 ? 'DNS' : 'IP Address'
  // Without a name of that kind Node would go by the common name.
  return carried.some(({ type }) => type === wanted) && tls.checkServerIdentity(name, certificate) === undefined
}

interface AltName {
  readonly type: string
  readonly value: string
}

/** Names as Node prints them: `DNS:a.test, URI:"with, comma"`; what could be misread is quoted as in JSON. */
const ALT_NAME = /([A-Za-z0-9 ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y

/** @returns nothing when the text is not of that form */
function subjectAltNames(text: string): readonly AltName[] {
  const names: AltName[] = []
  ALT_NAME.lastIndex = 0
  while (ALT_NAME.lastIndex < text.length) {
    const match = ALT_NAME.exec(text)
    if (match === null) return []
    const [, type = '', value = ''] = match
    names.push({ type, value: value.startsWith('"') ? unquoted(value) : value })
  }
  return names
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string
  } catch {
    return text
  }
}
