import type { X509Certificate } from 'node:crypto'
import type { PeerCertificate } from '../stream.ts'

/** What a certificate says; read when it is asked for. */
export function certificateOf(certificate: X509Certificate | undefined): PeerCertificate | undefined {
  return certificate === undefined ? undefined : new LazyCertificate(certificate)
}

class LazyCertificate implements PeerCertificate {
  readonly #certificate: X509Certificate
  #names: readonly string[] | undefined

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
    this.#names ??= alternativeNames(this.#certificate.subjectAltName ?? '')
    return this.#names
  }
}

/**
 * A name as RFC 4514 writes it. Node gives one relative name per line, the most general first, with values already escaped as RFC
 * 2253 says; a plus sign between blanks joins the parts of one, since those in values are escaped.
 */
function distinguishedName(lines: string | undefined): string {
  const names = (lines ?? '').split('\n').filter((line) => line !== '')
  return names
    .toReversed()
    .map((name) => name.replaceAll(' + ', '+'))
    .join(',')
}

/** `kind:value` items; a value with a separator in it is a JSON string. */
const ALTERNATIVE = /([^:,]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy

const KINDS: ReadonlySet<string> = new Set(['URI', 'DNS', 'IP Address', 'email'])

function alternativeNames(text: string): string[] {
  return [...text.matchAll(ALTERNATIVE)]
    .filter(([, kind]) => KINDS.has(kind!))
    .map(([, , value]) => (value!.startsWith('"') ? (JSON.parse(value!) as string) : value!))
}
