import type { GatewayObject } from '#api/gateway.ts'
import type { PolicyItem } from '#plan/item.ts'
import { gatewayTarget } from '#plan/target.ts'
import type { ConditionFault } from '../context/condition.ts'
import { policyItem } from '../context/policy-item.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import { resolveKeyPair } from '../references/resolve-key-pair.ts'

/** The client certificate of a Gateway for its backends. */
export interface BackendCertificate {
  readonly item: PolicyItem
  /** Key of the Secret; undefined if it cannot be used. */
  readonly secret: string | undefined
  readonly fault: ConditionFault | undefined
}

/** Resolves `spec.tls.backend.clientCertificateRef` (Gateway API, GatewayBackendTLS). @returns undefined if it is not set */
export function resolveBackendCertificate(
  context: TranslationContext,
  gateway: GatewayObject,
  report: Report,
): BackendCertificate | undefined {
  const ref = gateway.spec.tls?.backend?.clientCertificateRef
  if (ref === undefined) return undefined
  const path = 'spec.tls.backend.clientCertificateRef'
  const failed = { code: 'certificate-missing', reason: 'InvalidClientCertificateRef' } as const
  const found = resolveKeyPair(context, gateway, ref, failed)
  const fault = 'reason' in found ? found : undefined
  if (fault !== undefined) {
    const message = `${fault.message}; TLS connections to backends that need it are refused`
    report({ path, code: fault.code, message, severity: 'error' })
  }
  const field = {
    object: gateway,
    section: 'backend',
    field: 'clientCertificate',
    path,
    spec: { name: ref.name, namespace: ref.namespace ?? gateway.metadata.namespace },
  } as const
  const attachment = { target: gatewayTarget(gateway.metadata), level: 'Gateway' } as const
  return {
    item: policyItem(field, attachment, fault === undefined ? {} : { broken: fault.message }),
    secret: 'key' in found ? found.key : undefined,
    fault,
  }
}
