import type { ListenerSpec } from '#api/gateway.ts'
import { GATEWAY_GROUP } from '#api/groups.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import { secretData } from '#api/secret-data.ts'
import type { FindingCode } from '#base/findings.ts'
import { certificateFault } from '#base/tls-material.ts'
import { normaliseHostname } from '../hostname.ts'
import { missingEntry } from '../references/missing-entry.ts'
import { notFound } from '../references/not-found.ts'
import { wrongReference } from '../references/wrong-reference.ts'
import type { Report } from '../reporting.ts'
import type { ConditionFault } from '../status/condition.ts'
import type { TranslationContext } from '../translation-context.ts'
import { checkCertificates, type ListenerCertificate } from './check-certificates.ts'
import { tlsModeOf } from './listener.ts'

export interface Certificates {
  /** Keys of the usable Secrets. */
  readonly secrets: readonly string[]
  readonly fault?: ConditionFault
  /** Why clients may reject them. */
  readonly notes: readonly string[]
}

const INVALID = 'InvalidCertificateRef'

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
    return { secrets: [], fault: { reason: INVALID, message }, notes: [] }
  }

  const found: ListenerCertificate[] = []
  const secrets: string[] = []
  const faults: ConditionFault[] = []
  for (const [index, ref] of refs.entries()) {
    const at = `${path}[${index}]`
    const certificate = resolveCertificate(context, owner, ref, at)
    if ('key' in certificate) {
      secrets.push(certificate.key)
      found.push(certificate)
    } else {
      report({ path: at, code: certificate.code, message: certificate.message, severity: 'error' })
      faults.push({ reason: certificate.reason, message: certificate.message })
    }
  }
  const notes = checkCertificates(found, normaliseHostname(listener.spec.hostname), context.isPast, report)
  const [fault] = faults
  return fault === undefined ? { secrets, notes } : { secrets, fault, notes }
}

type CertificateRef = NonNullable<NonNullable<ListenerSpec['tls']>['certificateRefs']>[number]
type RefFault = ConditionFault & { readonly code: FindingCode }

/** @returns the certificate with the key of its Secret, or why it cannot be used */
function resolveCertificate(
  { inventory, grants, tlsMaterial }: TranslationContext,
  owner: Pick<ApiObject, 'kind' | 'metadata'>,
  ref: CertificateRef,
  path: string,
): (ListenerCertificate & { readonly key: string }) | RefFault {
  if (ref.kind !== 'Secret' || ref.group !== '') {
    const { message } = wrongReference(ref, { Secret: '' })
    return { code: 'listener-certificate', reason: INVALID, message }
  }
  const namespace = ref.namespace ?? owner.metadata.namespace
  const from = { group: GATEWAY_GROUP, kind: owner.kind, namespace: owner.metadata.namespace }
  const title = `Secret ${namespace}/${ref.name}`
  if (!grants(from, { group: '', kind: 'Secret', namespace, name: ref.name })) {
    const message = `no ReferenceGrant permits ${title}`
    return { code: 'reference-not-permitted', reason: 'RefNotPermitted', message }
  }
  const secret = inventory.find('Secret', namespace, ref.name)
  if (secret === undefined) {
    const object = { kind: 'Secret', namespace, name: ref.name } as const
    return { ...notFound(inventory, 'secret-not-found', object), reason: INVALID }
  }
  const data = secretData(secret)
  const missing = ['tls.crt', 'tls.key'].find((name) => data[name] === undefined)
  const { 'tls.crt': cert = '', 'tls.key': key = '' } = data
  const fault =
    missing === undefined ? certificateFault(cert, key, tlsMaterial) : missingEntry([missing], Object.keys(data))
  if (fault === undefined) {
    const validity = tlsMaterial.validity(data['tls.crt']!)
    return { key: objectKey('Secret', namespace, ref.name), title, path, validity }
  }
  return { code: 'listener-certificate', reason: INVALID, message: `${title}: ${fault}` }
}
