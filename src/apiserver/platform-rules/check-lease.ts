import { invalidField, requiredField } from '../kinds/field-errors.ts'
import type { Cause, WrittenObject } from '../kinds/served-kind.ts'

interface Spec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly leaseTransitions?: number
  readonly strategy?: string
  readonly preferredHolder?: string
}

/** Rules for Leases (Kubernetes, `ValidateLease`). */
export function checkLease({ spec }: WrittenObject): readonly Cause[] {
  const { holderIdentity, leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = (spec ?? {}) as Spec
  const causes: Cause[] = []
  if (holderIdentity === '') causes.push(invalidField('spec.holderIdentity', '', 'must not be empty'))
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0)
    causes.push(invalidField('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'))
  if (leaseTransitions !== undefined && leaseTransitions < 0)
    causes.push(invalidField('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'))
  if (preferredHolder && !strategy)
    causes.push(requiredField('spec.strategy', 'must be specified when `preferredHolder` is specified'))
  return causes
}
