import { clock } from '#base/clock.ts'
import type { CertificateValidity } from '#base/tls-material.ts'
import type { Report } from '../reporting.ts'

/** A usable certificate of a listener. */
export interface ListenerCertificate {
  /** `Secret namespace/name` */
  readonly title: string
  /** Field path of the reference. */
  readonly path: string
  readonly validity: CertificateValidity | undefined
}

/**
 * Reports certificates that clients reject; they are served anyway. The time is that of the translation.
 * @param hostname of the listener; empty: any host
 * @returns the messages, for the status
 */
export function checkCertificates(
  certificates: readonly ListenerCertificate[],
  hostname: string,
  report: Report,
): readonly string[] {
  const messages: string[] = []
  const warn = (path: string, code: 'certificate-expired' | 'certificate-hostname', message: string) => {
    report({ path, code, message, severity: 'warning' })
    messages.push(message)
  }
  const now = clock.now()
  for (const { title, path, validity } of certificates) {
    if (validity === undefined) continue
    if (now > validity.untilMs)
      warn(path, 'certificate-expired', `${title}: the certificate expired on ${day(validity.untilMs)}`)
    else if (now < validity.fromMs)
      warn(path, 'certificate-expired', `${title}: the certificate is valid only from ${day(validity.fromMs)}`)
  }
  const [first] = certificates
  if (first === undefined || hostname === '' || certificates.some(({ validity }) => fits(validity, hostname)))
    return messages
  const names = certificates.flatMap(({ validity }) => validity?.names ?? []).join(', ') || 'no DNS name'
  warn(
    first.path,
    'certificate-hostname',
    `no certificate of this listener is valid for ${hostname}, only for ${names}`,
  )
  return messages
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
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
