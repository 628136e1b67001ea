import type { AttachedTlsPolicy } from '../backends/attach-tls-policy.ts'
import { type ConditionDraft, conditionsOf } from '../context/condition.ts'
import { describeOverlaps } from '../policies/describe-overlaps.ts'
import type { Overlap } from '../policies/find-overlaps.ts'
import { type GatewaysOf, policyAncestors, reachedGateways, writtenGateways } from './policy-ancestors.ts'

interface StatusFacts {
  /** `controllerName` of our entries. */
  readonly controller: string
  readonly gatewaysOf: GatewaysOf
  /** The places where another policy overrides it. */
  readonly overlaps: readonly Overlap[]
}

/** `status` of a BackendTLSPolicy: one entry for each Gateway whose traffic reaches its targets (Gateway API, BackendTLSPolicy). */
export function tlsPolicyStatus(policy: AttachedTlsPolicy, { controller, gatewaysOf, overlaps }: StatusFacts) {
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
  return { ancestors: policyAncestors(object, { controller, entries, omitted: gateways.length - entries.length }) }
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
