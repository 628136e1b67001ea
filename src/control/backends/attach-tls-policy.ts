import type { BackendTLSPolicyObject } from '#api/backend-tls-policy.ts'
import { OWN_GROUP } from '#api/groups.ts'
import { objectKey } from '#api/object.ts'
import type { SpecOf } from '#api/policy-fields.ts'
import type { FindingCode } from '#base/findings.ts'
import type { PolicyItem } from '#plan/item.ts'
import type { ConditionFault } from '../context/condition.ts'
import { policyItem } from '../context/policy-item.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import {
  type AttachedPolicy,
  type AttachmentContext,
  attachReference,
  type TargetAttachment,
  type UnattachedTarget,
} from '../policies/attach-policy.ts'
import { authorityFault } from '../references/authority-fault.ts'
import { configMapData } from '../references/config-map-data.ts'
import { reportMixedSections } from '../references/mixed-sections.ts'
import { notFound } from '../references/not-found.ts'
import { tcpPorts } from '../references/service-port.ts'
import { wrongReference } from '../references/wrong-reference.ts'

/** A BackendTLSPolicy with its targets and certificate authorities. */
export interface AttachedTlsPolicy extends AttachedPolicy<BackendTLSPolicyObject> {
  /** Names of the usable ConfigMaps; undefined: the authorities of the system. */
  readonly authorities: readonly string[] | undefined
  /** Why the first unusable reference to authorities cannot be used. */
  readonly resolvedRefs: ConditionFault | undefined
}

/** Attaches a BackendTLSPolicy to the Services and ProxyBackends that it names, and resolves its certificate authorities. */
export function attachTlsPolicy(
  context: TranslationContext,
  attachment: AttachmentContext,
  object: BackendTLSPolicyObject,
  report: Report,
): AttachedTlsPolicy {
  for (const option of Object.keys(object.spec.options ?? {})) {
    const message = 'has no effect: this gateway has no options for TLS to backends; use backend.tls of a ProxyPolicy'
    report({ path: `spec.options[${option}]`, code: 'no-effect', message, severity: 'warning' })
  }
  const identityOf = ({ group, kind, name }: TargetRef) => JSON.stringify([group, kind, name])
  reportMixedSections(object.spec.targetRefs, { path: 'spec.targetRefs', identityOf, fields: ['sectionName'] }, report)
  return { object, ...attachTargets(attachment, object), ...resolveAuthorities(context, object, report) }
}

const TARGETS = { Service: '', ProxyBackend: OWN_GROUP }

/** The precedence of the levels of a ProxyPolicy, below all of them (decision A-62). */
const LEVELS = { Backend: 'BackendTLSPolicy', BackendSection: 'BackendTLSPolicySection' } as const

function attachTargets(
  context: AttachmentContext,
  { metadata: { namespace }, spec }: BackendTLSPolicyObject,
): Pick<AttachedPolicy, 'attachments' | 'unattached'> {
  const attachments = new Map<string, TargetAttachment>()
  const unattached: UnattachedTarget[] = []
  for (const [index, ref] of spec.targetRefs.entries()) {
    const path = `spec.targetRefs[${index}]`
    if (!isBackend(ref)) {
      const { message, field } = wrongReference(ref, TARGETS)
      unattached.push({
        path: `${path}${field}`,
        code: 'target-not-allowed',
        message: `Policy is not attached: ${message}`,
      })
      continue
    }
    const attached = attachReference(context, namespace, {
      ref: withPortNumber(context, namespace, ref),
      path,
      accepted: ['Service', 'ProxyBackend'],
    })
    if (!('target' in attached)) unattached.push(attached)
    else if (!attachments.has(attached.target)) {
      const level = LEVELS[attached.level as keyof typeof LEVELS]
      attachments.set(attached.target, { ...attached, level })
    }
  }
  return { attachments: [...attachments.values()], unattached }
}

type TargetRef = BackendTLSPolicyObject['spec']['targetRefs'][number]

function isBackend({ group, kind }: TargetRef): boolean {
  return Object.hasOwn(TARGETS, kind) && TARGETS[kind as keyof typeof TARGETS] === group
}

/** A section of a Service is the name of a port (Gateway API), or its number, as for a ProxyPolicy. */
function withPortNumber({ inventory }: AttachmentContext, namespace: string, ref: TargetRef): TargetRef {
  if (ref.kind !== 'Service' || ref.sectionName === undefined) return ref
  const service = inventory.find('Service', namespace, ref.name)
  const named = service && tcpPorts(service).find(({ name }) => name === ref.sectionName)
  return named === undefined ? ref : { ...ref, sectionName: `${named.port}` }
}

/** Unusable authorities are omitted; without any, nothing is sent to the targets (Gateway API, BackendTLSPolicyValidation). */
function resolveAuthorities(
  context: TranslationContext,
  { metadata: { namespace }, spec }: BackendTLSPolicyObject,
  report: Report,
): Pick<AttachedTlsPolicy, 'authorities' | 'resolvedRefs'> {
  const refs = spec.validation.caCertificateRefs
  if (refs === undefined) return { authorities: undefined, resolvedRefs: undefined }
  const authorities: string[] = []
  let resolvedRefs: ConditionFault | undefined
  for (const [index, ref] of refs.entries()) {
    const fault = authorityRefFault(context, namespace, ref)
    if (fault === undefined) authorities.push(ref.name)
    else {
      const { code, reason, message } = fault
      report({ path: `spec.validation.caCertificateRefs[${index}]`, code, message, severity: 'error' })
      resolvedRefs ??= { reason, message }
    }
  }
  return { authorities, resolvedRefs }
}

type AuthorityRef = NonNullable<BackendTLSPolicyObject['spec']['validation']['caCertificateRefs']>[number]

function authorityRefFault(
  { inventory, tlsMaterial }: TranslationContext,
  namespace: string,
  { group, kind, name }: AuthorityRef,
): (ConditionFault & { readonly code: FindingCode }) | undefined {
  if (group !== '' || kind !== 'ConfigMap') {
    const { message } = wrongReference({ group, kind }, { ConfigMap: '' })
    return { code: 'certificate-missing', reason: 'InvalidKind', message }
  }
  const reason = 'InvalidCACertificateRef'
  const map = inventory.find('ConfigMap', namespace, name)
  if (map === undefined) return { ...notFound(inventory, 'config-map-not-found', { kind, namespace, name }), reason }
  const fault = authorityFault({ kind, namespace, name }, configMapData(map), tlsMaterial)
  if (fault === undefined) return undefined
  return { code: 'certificate-missing', reason, message: fault }
}

/** A BackendTLSPolicy sets `backend.tls` of its targets. */
export function tlsPolicyItems({ object, attachments, authorities }: AttachedTlsPolicy): readonly PolicyItem[] {
  const field = {
    object,
    section: 'backend',
    field: 'tls',
    path: 'spec.validation',
    spec: tlsSettings(object, authorities),
  } as const
  const faults = authorities?.length === 0 ? { broken: 'no certificate authority can be used' } : {}
  return attachments.map((attachment) => policyItem(field, attachment, faults))
}

/** `hostname` is the name to verify only if there are no alternatives (Gateway API, BackendTLSPolicyValidation). */
function tlsSettings(
  { spec: { validation } }: BackendTLSPolicyObject,
  authorities: AttachedTlsPolicy['authorities'],
): SpecOf<'backend', 'tls'> {
  const { hostname, subjectAltNames = [] } = validation
  const names = subjectAltNames.map(({ type, hostname: name, uri }) => (type === 'URI' ? uri! : name!))
  return {
    sni: hostname,
    ...(authorities === undefined ? {} : { caCertificateRefs: authorities.map((name) => ({ name })) }),
    ...(names.length === 0 ? {} : { verifySubjectAltNames: names }),
  }
}

/** Keys of the ConfigMaps with the certificate authorities. */
export function authorityKeys({ object, authorities = [] }: AttachedTlsPolicy): readonly string[] {
  return authorities.map((name) => objectKey('ConfigMap', object.metadata.namespace, name))
}
