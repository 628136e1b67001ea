import type { Finding } from '#base/finding.ts'
import { type ConditionDraft, conditionsOf } from '../context/condition.ts'
import { describeOverlaps } from '../policies/describe-overlaps.ts'
import type { PolicyFacts } from '../policies/policy-facts.ts'
import {
  type AncestorEntry,
  type AncestorRef,
  type GatewaysOf,
  gatewayRef,
  policyAncestors,
  reachedGateways,
  SUMMARY,
  writtenGateways,
} from './policy-ancestors.ts'

interface StatusFacts {
  /** `controllerName` of our entries. */
  readonly controller: string
  readonly gatewaysOf: GatewaysOf
  /** There is no other controller that reports on the targets that it serves. */
  readonly isAlone: boolean
  /** Findings of the policy with severity `error`. */
  readonly errors: readonly Finding[]
}

/**
 * `status` of a ProxyPolicy: one entry for each Gateway whose traffic it affects, one for targets that it is not attached to, and a
 * summary (specification 1, 2.6; decision A-24). Undefined: only other controllers serve its targets.
 */
export function policyStatus(facts: PolicyFacts, { controller, isAlone, gatewaysOf, errors }: StatusFacts) {
  const policy = isAlone ? facts : { ...facts, unattached: facts.unattached.filter(({ isForeign }) => !isForeign) }
  const { object, attachments } = policy
  // What only the proxies of one Gateway refuse is in the entry of that Gateway.
  const acceptedAt = (gateway?: string) =>
    acceptedCondition(
      policy,
      errors.filter((error) => error.gateway === undefined || error.gateway === gateway),
    )
  const unattached = unattachedCondition(policy)
  const gateways = reachedGateways(attachments, gatewaysOf)
  const reached = writtenGateways(gateways)
  const own = reached.map(({ key, ancestorRef }): AncestorEntry => {
    const isHere = (at: string) => gatewaysOf(at).includes(key)
    const conditions = () => [acceptedAt(key), attachedCondition(policy), ...overlappedConditions(policy, isHere)]
    return { ancestorRef, conditions }
  })
  if (unattached !== undefined) own.push({ ancestorRef: SUMMARY, conditions: () => [acceptedAt(), unattached] })
  if (own.length === 0) return undefined
  const first = gateways[0] === undefined ? SUMMARY : gatewayRef(gateways[0])
  return {
    conditions: [
      summaryOf(acceptedCondition(policy, errors), first),
      unattached ?? attachedCondition(policy),
      ...overlappedConditions(policy, (at) => gatewaysOf(at).length > 0),
    ],
    ancestors: policyAncestors(object, { controller, entries: own, omitted: gateways.length - reached.length }),
  }
}

/** A condition for the whole policy; if it is not True, the message names the first Gateway concerned. */
function summaryOf(condition: ConditionDraft, { kind, namespace, name }: AncestorRef): ConditionDraft {
  if (condition.status === 'True' || kind === undefined) return condition
  return { ...condition, message: `${kind} ${namespace}/${name}: ${condition.message}` }
}

function attachedCondition({ object, unattached }: PolicyFacts): ConditionDraft {
  const extent = unattached.length === 0 ? 'Attached to all targets' : 'Attached to its targets at this Gateway'
  return conditionsOf(object)('Attached', 'True', 'Attached', extent)
}

/** One condition for all targets that the policy is not attached to. */
function unattachedCondition({ object, unattached }: PolicyFacts): ConditionDraft | undefined {
  if (unattached.length === 0) return undefined
  const lines = [...new Set(unattached.map(({ message }) => message))].join('\n')
  return conditionsOf(object)('Attached', 'False', 'Pending', lines)
}

/** Missing targets and overridden fields do not affect the validity of a policy. */
function acceptedCondition({ object }: PolicyFacts, errors: readonly Finding[]): ConditionDraft {
  const condition = conditionsOf(object)
  const faults = errors.filter(({ path, code }) => !path.startsWith('spec.target') && !code.startsWith('overridden-'))
  if (faults.length === 0) return condition('Accepted', 'True', 'Valid', 'Policy accepted')
  const lines = [...new Set(faults.map(({ path, message }) => `${path}: ${message}`))].join('\n')
  return condition('Accepted', 'True', 'PartiallyValid', lines)
}

/** @param isHere whether overlaps at a target are shown */
function overlappedConditions(policy: PolicyFacts, isHere: (target: string) => boolean): readonly ConditionDraft[] {
  const here = policy.overlaps.filter(({ at }) => isHere(at))
  if (here.length === 0) return []
  return [conditionsOf(policy.object)('Overlapped', 'True', 'FieldsOverridden', describeOverlaps(here))]
}
