import type { GatewayObject, ListenerSpec } from '#api/gateway.ts'
import type { ApiObject } from '#api/object.ts'
import type { ConditionFault } from '../context/condition.ts'
import { normaliseHostname } from '../context/hostname.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import { type KeyPairFault, resolveKeyPair } from '../references/resolve-key-pair.ts'
import { type AcmeSetting, whyNoCertificate } from './acme.ts'
import { checkCertificates, type ListenerCertificate } from './check-certificates.ts'
import { tlsModeOf } from './listener.ts'

export interface Certificates {
  /** Keys of the usable Secrets. */
  readonly secrets: readonly string[]
  readonly fault?: ConditionFault
  /** Why clients may reject them. */
  readonly notes: readonly string[]
}

interface ListenerOwner {
  readonly owner: Pick<ApiObject, 'kind' | 'metadata'>
  readonly gateway: GatewayObject
  /** Where its missing certificates come from. */
  readonly acme: AcmeSetting | undefined
}

const FAILED = { code: 'listener-certificate', reason: 'InvalidCertificateRef' } as const

/** Resolves the certificates of a listener that terminates TLS. Unusable ones are omitted; without any, every handshake fails. */
export function resolveCertificates(
  context: TranslationContext,
  { owner, gateway, acme }: ListenerOwner,
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
      const { severity, ...fault } =
        acme === undefined ? asError(certificate) : awaited(certificate, { gateway, acme }, listener.spec, ref)
      report({ path: at, code: fault.code, message: fault.message, severity })
      faults.push({ reason: fault.reason, message: fault.message })
    }
  }
  const notes = checkCertificates(found, normaliseHostname(listener.spec.hostname), context.isPast, report)
  const [fault] = faults
  return fault === undefined ? { secrets, notes } : { secrets, fault, notes }
}

type Reported = KeyPairFault & { readonly severity: 'error' | 'warning' }

function asError(fault: KeyPairFault): Reported {
  return { ...fault, severity: 'error' }
}

/** A missing Secret that the gateway fills itself. */
function awaited(
  fault: KeyPairFault,
  { gateway, acme }: { readonly gateway: GatewayObject; readonly acme: AcmeSetting },
  listener: ListenerSpec,
  ref: { readonly name: string; readonly namespace?: string },
): Reported {
  if (fault.code !== 'secret-not-found') return asError(fault)
  const namespace = ref.namespace ?? gateway.metadata.namespace
  const why = whyNoCertificate(gateway, listener, namespace)
  if (why !== undefined) {
    return asError({
      ...fault,
      code: 'acme-not-possible',
      message: `${fault.message}, and the gateway cannot ask for a certificate: ${why}`,
    })
  }
  const message = `Secret ${namespace}/${ref.name} does not exist yet: a gateway with a state folder asks ${acme.directory} for the certificate`
  return { ...fault, code: 'certificate-awaited', message, severity: 'warning' }
}
