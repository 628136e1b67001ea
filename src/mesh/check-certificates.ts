import { createPrivateKey, X509Certificate } from 'node:crypto'
import { cutText } from '#base/cut-text.ts'
import { shortDuration } from '#base/short-duration.ts'
import { certificatesIn } from '#base/tls-material.ts'
import { escapeInvisible } from '#base/visible-text.ts'
import { readSubjectAltNames } from '#net/subject-alt-names.ts'
import { MeshFailure } from './mesh-failure.ts'

/** A certificate, and how it leads to a root. */
export interface CheckedCertificates {
  /** PEM: the certificate of the proxy, then those between it and the root. */
  readonly certificate: string
  /** Milliseconds since the epoch: when the first of them ends, the root included. */
  readonly untilMs: number
}

/** What the certificate must fit. */
export interface Expected {
  /** SPIFFE id. */
  readonly id: string
  /** PEM. */
  readonly key: string
  /** Root certificates in PEM. */
  readonly roots: string
  /** Where they are from, for messages. */
  readonly rootsFile: string
}

/** A longer chain would make handshakes slow, and no mesh has one. */
const MAX_CERTIFICATES = 10
/** The clock of the CA may be ahead so far. */
const MAX_SKEW_MS = 60_000
const MAX_TEXT = 200

/**
 * Checks what a CA has issued before it is used: identity, key, chain and dates.
 * @throws MeshFailure
 */
export function checkCertificates(chain: readonly string[], expected: Expected, nowMs: number): CheckedCertificates {
  const { id, key, roots, rootsFile } = expected
  const [leaf, ...others] = readChain(chain)
  checkIdentity(leaf!, id)
  if (!leaf!.checkPrivateKey(createPrivateKey(key))) throw refuse('the certificate is for another key')
  // A root may be in the file twice: as it was, and renewed with the same name and key.
  const lastingFirst = certificatesIn(roots)
    .map((pem) => new X509Certificate(pem))
    .toSorted((a, b) => b.validToDate.getTime() - a.validToDate.getTime())
  const path = pathToRoot(leaf!, { others: new Set(others), roots: lastingFirst })
  if (path === undefined)
    throw refuse(`the certificate is not signed by a root in ${rootsFile}: its issuer is "${nameOf(leaf!.issuer)}"`)
  for (const certificate of path) checkDates(certificate, nowMs)
  const pems = path.slice(0, -1).map((certificate) => certificate.toString().trim())
  return {
    certificate: `${pems.join('\n')}\n`,
    untilMs: Math.min(...path.map(({ validToDate }) => validToDate.getTime())),
  }
}

function refuse(message: string): MeshFailure {
  return new MeshFailure('answer', message)
}

function readChain(chain: readonly string[]): readonly X509Certificate[] {
  const pems = certificatesIn(chain.join('\n'))
  if (pems.length === 0) throw refuse('the answer has no certificates')
  if (pems.length > MAX_CERTIFICATES)
    throw refuse(`the answer has ${pems.length} certificates; the limit is ${MAX_CERTIFICATES}`)
  return pems.map(readCertificate)
}

function readCertificate(pem: string, index: number): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw refuse(`certificate ${index + 1} of the answer cannot be read`)
  }
}

const DOMAIN = /^spiffe:\/\/([^/]*)\//

/** Exactly one URI (SPIFFE X.509-SVID, 2), which is the id. */
function checkIdentity({ subjectAltName = '' }: X509Certificate, id: string): void {
  const uris = readSubjectAltNames(subjectAltName).filter(({ type }) => type === 'URI')
  const [first] = uris
  if (first === undefined) throw refuse(`the certificate has no SPIFFE id; it must have ${id}`)
  if (uris.length > 1) throw refuse(`the certificate has ${uris.length} URIs; it must have one, ${id}`)
  if (first.value === id) return
  const [domain, wanted] = [DOMAIN.exec(first.value)?.[1], DOMAIN.exec(id)?.[1]]
  const hint = domain !== undefined && domain !== wanted ? '; is mesh.trustDomain that of the CA?' : ''
  throw refuse(`the certificate is for ${shown(first.value)}, not for ${id}${hint}`)
}

interface Issuers {
  /** Those of the answer that were not tried yet: each either leads to a root, or does not, whatever leads to it. */
  readonly others: Set<X509Certificate>
  readonly roots: readonly X509Certificate[]
}

/** @returns the certificates from this one to a root, which is the last one */
function pathToRoot(from: X509Certificate, { others, roots }: Issuers): readonly X509Certificate[] | undefined {
  const root = roots.find((one) => isIssuer(one, from))
  if (root !== undefined) return [from, root]
  for (const next of others) {
    if (!isIssuer(next, from)) continue
    others.delete(next)
    const path = pathToRoot(next, { others, roots })
    if (path !== undefined) return [from, ...path]
  }
  return undefined
}

function isIssuer(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}

function hasEnded({ validToDate }: X509Certificate, nowMs: number): boolean {
  return validToDate.getTime() <= nowMs
}

function checkDates(certificate: X509Certificate, nowMs: number): void {
  const { subject, validFromDate: from, validToDate: until } = certificate
  const which = subject === undefined || subject === '' ? 'the certificate' : `the certificate of "${nameOf(subject)}"`
  if (hasEnded(certificate, nowMs)) {
    const ago = shortDuration(nowMs - until.getTime())
    throw refuse(`${which} expired at ${until.toISOString()}, ${ago} ago by the clock of this machine`)
  }
  const earlyMs = from.getTime() - nowMs
  if (earlyMs <= MAX_SKEW_MS) return
  throw refuse(
    `${which} is valid only from ${from.toISOString()}: the clocks of the CA and of this machine are ${shortDuration(earlyMs)} apart`,
  )
}

/** A distinguished name in one line. */
function nameOf(lines: string): string {
  return shown(lines.replaceAll('\n', ', '))
}

function shown(text: string): string {
  return cutText(escapeInvisible(text), MAX_TEXT)
}
