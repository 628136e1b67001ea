import type { AttachedTlsPolicy } from '../backends/attach-tls-policy.ts'
import { type ConditionDraft, conditionsOf } from '../context/condition.ts'
import { describeOverlaps } from '../policies/describe-overlaps.ts'
import type { Overlap } from '../policies/find-overlaps.ts'
import { type GatewaysOf, policyAncestors, reachedGateways, writtenGateways } from './policy-ancestors.ts'

/**
 * `status` of a BackendTLSPolicy: one entry for each Gateway whose traffic reaches its targets (Gateway API, BackendTLSPolicy).
 * @param overlaps the places where another policy overrides it
 */
export function tlsPolicyStatus(policy: AttachedTlsPolicy, overlaps: readonly Overlap[], gatewaysOf: GatewaysOf) {
  const { object, attachments } = policy
  const gateways = reachedGateways(attachments, gatewaysOf)
  const entries = writtenGateways(gateways).map(({ key, ancestorRef }) => ({
    ancestorRef,
    conditions: () => [
      acceptedCondition(
        policy,
        overlaps.filter(({ at }) => gatewaysOf(at).includes(key)),
      ),
      resolvedRefsCondition(policy),
    ],
  }))
  return { ancestors: policyAncestors(object, object.status, entries, gateways.length - entries.length) }
}

function acceptedCondition(policy: AttachedTlsPolicy, overlaps: readonly Overlap[]): ConditionDraft {
  const { object, authorities, resolvedRefs } = policy
  const condition = conditionsOf(object)
  // Policies of other kinds override it by precedence. Only another BackendTLSPolicy conflicts with it.
  const conflicts = overlaps.filter(({ lost }) => lost === undefined)
  if (conflicts.length > 0) return condition('Accepted', 'False', 'Conflicted', describeOverlaps(conflicts))
  if (authorities?.length === 0) return condition('Accepted', 'False', 'NoValidCACertificate', resolvedRefs!.message)
  return condition('Accepted', 'True', 'Accepted', 'Policy accepted')
}

function resolvedRefsCondition({ object, resolvedRefs }: AttachedTlsPolicy): ConditionDraft {
  const condition = conditionsOf(object)
  if (resolvedRefs === undefined) return condition('ResolvedRefs', 'True', 'ResolvedRefs', 'All references resolved')
  return condition('ResolvedRefs', 'False', resolvedRefs.reason, resolvedRefs.message)
}
