import { GATEWAY_GROUP } from '#api/groups.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import { secretData } from '#api/secret-data.ts'
import type { FindingCode } from '#base/findings.ts'
import { missingKey } from '#base/missing-key.ts'
import { type CertificateValidity, certificateFault } from '#base/tls-material.ts'
import type { ConditionFault } from '../context/condition.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import { notFound } from './not-found.ts'
import { wrongReference } from './wrong-reference.ts'

interface SecretRef {
  readonly group: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

/** A Secret with a certificate and its key. */
export interface ResolvedKeyPair {
  readonly key: string
  /** For messages: `Secret default/door`. */
  readonly title: string
  readonly validity: CertificateValidity | undefined
}

export type KeyPairFault = ConditionFault & { readonly code: FindingCode }

/**
 * Resolves the reference of a Gateway or ListenerSet to a certificate.
 * @param failed code and reason if the Secret has no usable certificate
 */
export function resolveKeyPair(
  { inventory, grants, tlsMaterial }: TranslationContext,
  owner: Pick<ApiObject, 'kind' | 'metadata'>,
  ref: SecretRef,
  failed: { readonly code: FindingCode; readonly reason: string },
): ResolvedKeyPair | KeyPairFault {
  if (ref.kind !== 'Secret' || ref.group !== '') {
    const { message } = wrongReference(ref, { Secret: '' })
    return { ...failed, message }
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
    return { ...notFound(inventory, 'secret-not-found', object), reason: failed.reason }
  }
  const data = secretData(secret)
  const missing = missingKey({ kind: 'Secret', namespace, name: ref.name }, data, ['tls.crt'], ['tls.key'])
  if (missing !== undefined) return { ...failed, message: missing }
  const { 'tls.crt': cert = '', 'tls.key': key = '' } = data
  const fault = certificateFault(cert, key, tlsMaterial)
  if (fault !== undefined) return { ...failed, message: `${title}: ${fault}` }
  return { key: objectKey('Secret', namespace, ref.name), title, validity: tlsMaterial.validity(cert) }
}
