import type { X509Certificate } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import type { PeerCertificate } from '../peer.ts'
import { type AltName, readSubjectAltNames } from '../subject-alt-names.ts'

/** The names in a certificate; parsed on first use. */
export function certificateOf(certificate: X509Certificate | undefined): PeerCertificate | undefined {
  return certificate === undefined ? undefined : new LazyCertificate(certificate)
}

class LazyCertificate implements PeerCertificate {
  readonly #certificate: X509Certificate
  #names: readonly AltName[] | undefined

  constructor(certificate: X509Certificate) {
    this.#certificate = certificate
  }

  get pem(): string {
    return this.#certificate.toString()
  }

  get subject(): string {
    return distinguishedName(this.#certificate.subject)
  }

  get issuer(): string {
    return distinguishedName(this.#certificate.issuer)
  }

  get subjectCn(): string | undefined {
    const { subject } = this.#certificate.toLegacyObject()
    const name: string | string[] | undefined = subject?.CN
    return typeof name === 'object' ? name.at(-1) : name
  }

  get subjectAltNames(): readonly string[] {
    return this.#altNames().map(({ value }) => value)
  }

  get uris(): readonly string[] {
    return this.#altNames().flatMap(({ type, value }) => (type === 'URI' ? [value] : []))
  }

  #altNames(): readonly AltName[] {
    this.#names ??= readSubjectAltNames(this.#certificate.subjectAltName ?? '')
      .filter(({ type }) => TYPES.has(type))
      .map(({ type, value }) => ({ type, value: type === 'IP Address' ? canonicalAddress(value) : value }))
    return this.#names
  }
}

/**
 * A distinguished name in the format of RFC 4514. Node gives one relative name per line, the most general first, with values escaped
 * according to RFC 2253. ` + ` joins the parts of a multi-valued relative name; a plus sign in a value is escaped.
 */
function distinguishedName(lines: string | undefined): string {
  const names = (lines ?? '').split('\n').filter((line) => line !== '')
  return names
    .toReversed()
    .map((name) => name.replaceAll(' + ', '+'))
    .join(',')
}

const TYPES: ReadonlySet<string> = new Set(['URI', 'DNS', 'IP Address', 'email'])

/** The canonical text of an IP address. */
function canonicalAddress(text: string): string {
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text).toRFC5952String() : text
}
