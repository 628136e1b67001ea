import type { ListenerSpec } from '#api/gateway.ts'
import type { ApiObject } from '#api/object.ts'
import type { ConditionFault } from '../context/condition.ts'
import { normaliseHostname } from '../context/hostname.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import { resolveKeyPair } from '../references/resolve-key-pair.ts'
import { checkCertificates, type ListenerCertificate } from './check-certificates.ts'
import { tlsModeOf } from './listener.ts'

export interface Certificates {
  /** Keys of the usable Secrets. */
  readonly secrets: readonly string[]
  readonly fault?: ConditionFault
  /** Why clients may reject them. */
  readonly notes: readonly string[]
}

const FAILED = { code: 'listener-certificate', reason: 'InvalidCertificateRef' } as const

/** Resolves the certificates of a listener that terminates TLS. Unusable ones are omitted; without any, every handshake fails. */
export function resolveCertificates(
  context: TranslationContext,
  owner: Pick<ApiObject, 'kind' | 'metadata'>,
  listener: { readonly spec: ListenerSpec; readonly path: string },
  report: Report,
): Certificates {
  if (tlsModeOf(listener.spec) !== 'Terminate') return { secrets: [], notes: [] }
  const refs = listener.spec.tls?.certificateRefs ?? []
  const path = `${listener.path}.tls.certificateRefs`
  if (refs.length === 0) {
    const message = 'a listener that terminates TLS requires a certificate; set tls.certificateRefs'
    report({ path, code: 'listener-certificate', message, severity: 'error' })
    return { secrets: [], fault: { reason: FAILED.reason, message }, notes: [] }
  }

  const found: ListenerCertificate[] = []
  const secrets: string[] = []
  const faults: ConditionFault[] = []
  for (const [index, ref] of refs.entries()) {
    const at = `${path}[${index}]`
    const certificate = resolveKeyPair(context, owner, ref, FAILED)
    if ('key' in certificate) {
      secrets.push(certificate.key)
      found.push({ ...certificate, path: at })
    } else {
      report({ path: at, code: certificate.code, message: certificate.message, severity: 'error' })
      faults.push({ reason: certificate.reason, message: certificate.message })
    }
  }
  const notes = checkCertificates(found, normaliseHostname(listener.spec.hostname), context.isPast, report)
  const [fault] = faults
  return fault === undefined ? { secrets, notes } : { secrets, fault, notes }
}
