import type { CertificateValidity } from '#base/tls-material.ts'
import type { Report } from '../context/reporting.ts'
import type { IsPast } from '../context/translation-context.ts'

type CertificateCode = 'certificate-expired' | 'certificate-expires' | 'certificate-hostname'

/** A certificate is reported so many days before it expires, each time anew. */
const WARNED_DAYS = [1, 7, 30]
const DAY_MS = 86_400_000

/** A usable certificate of a listener. */
export interface ListenerCertificate {
  /** `Secret namespace/name` */
  readonly title: string
  /** Field path of the reference. */
  readonly path: string
  readonly validity: CertificateValidity | undefined
}

/**
 * Reports certificates that clients reject; they are served anyway.
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
  const messages: string[] = []
  const warn = (path: string, code: CertificateCode, message: string) => {
    report({ path, code, message, severity: 'warning' })
    messages.push(message)
  }
  for (const { title, path, validity } of certificates) {
    if (validity === undefined) continue
    if (isPast(validity.untilMs))
      warn(path, 'certificate-expired', `${title}: the certificate expired on ${day(validity.untilMs)}`)
    else if (!isPast(validity.fromMs - 1))
      warn(path, 'certificate-expired', `${title}: the certificate is valid only from ${day(validity.fromMs)}`)
    else {
      const days = daysLeft(validity, isPast)
      const left = days === 1 ? 'a day' : `${days} days`
      const message = `${title}: the certificate expires on ${day(validity.untilMs)}, in less than ${left}`
      if (days !== undefined) warn(path, 'certificate-expires', message)
    }
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

/** A certificate that is renewed at two thirds of its life, as usual, is never reported. @returns undefined: it is not yet time to warn */
export function daysLeft({ fromMs, untilMs }: CertificateValidity, isPast: IsPast): number | undefined {
  const days = WARNED_DAYS.filter((each) => each * DAY_MS < (untilMs - fromMs) / 3)
  return days.find((each) => isPast(untilMs - each * DAY_MS))
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
