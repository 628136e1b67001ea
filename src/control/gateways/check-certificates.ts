import type { CertificateValidity } from '#base/tls-material.ts'
import type { Report } from '../context/reporting.ts'
import type { IsPast } from '../context/translation-context.ts'
import { endNote } from '../references/check-ends.ts'

/** A usable certificate of a listener. */
export interface ListenerCertificate {
  /** `Secret namespace/name` */
  readonly title: string
  /** Field path of the reference. */
  readonly path: string
  readonly validity: CertificateValidity | undefined
}

/**
 * Checks why clients may reject certificates, which are served anyway. Their ends are findings of the Secrets.
 * @param hostname of the listener; empty: any host
 * @param isPast whether a time has passed; when it passes, the certificates are checked again
 * @returns the messages, for the status
 */
export function checkCertificates(
  certificates: readonly ListenerCertificate[],
  hostname: string,
  isPast: IsPast,
  report: Report,
): readonly string[] {
  const messages = certificates.flatMap(({ title, validity }) => {
    const note = validity && endNote(validity, isPast)
    return note === undefined ? [] : [`${title}: the certificate ${note.text}`]
  })
  const [first] = certificates
  if (first === undefined || hostname === '' || certificates.some(({ validity }) => fits(validity, hostname)))
    return messages
  const names = certificates.flatMap(({ validity }) => validity?.names ?? []).join(', ') || 'no DNS name'
  const message = `no certificate of this listener is valid for ${hostname}, only for ${names}`
  report({ path: first.path, code: 'certificate-hostname', message, severity: 'warning' })
  return [...messages, message]
}

/** Whether a client that asks for a host of the listener can accept the certificate (RFC 9525, 6.3); unknown validity fits. */
function fits(validity: CertificateValidity | undefined, hostname: string): boolean {
  if (validity === undefined) return true
  const isWildcard = hostname.startsWith('*.')
  return validity.names.some((name) => {
    if (name === hostname) return true
    if (isWildcard) return name.endsWith(hostname.slice(1))
    return name.startsWith('*.') && hostname.slice(hostname.indexOf('.')) === name.slice(1)
  })
}
