import { GATEWAY_GROUP, OWN_GROUP } from '#api/groups.ts'
import type { PolicyAncestorStatus } from '#api/policy-status.ts'
import { compareText } from '#base/compare-text.ts'
import type { Finding } from '#base/finding.ts'
import { CONTROLLER_NAME } from '../controller.ts'
import { describeOverlaps } from '../policies/describe-overlaps.ts'
import type { PolicyFacts } from '../policies/policy-facts.ts'
import { type ConditionDraft, conditionsOf } from './condition.ts'

/** Maximum number of ancestors in a status (Gateway API). */
const MAX_ANCESTORS = 16

/** Reference of the entry for targets without a Gateway. */
const SUMMARY = { group: OWN_GROUP, name: 'StatusSummary' }

type AncestorRef = Partial<PolicyAncestorStatus['ancestorRef']> & { readonly name: string }

interface Ancestor {
  readonly ancestorRef: AncestorRef
  readonly controllerName: string
  readonly conditions?: readonly ConditionDraft[]
}

/** The Gateways, by target and sorted, whose traffic reaches a policy target. */
type GatewaysOf = (target: string) => readonly string[]

/** An entry that is built only if it fits into the status: a policy may affect thousands of Gateways. */
interface Draft {
  readonly ancestorRef: AncestorRef
  readonly controllerName: string
  readonly write: () => Ancestor
}

/**
 * `status` of a ProxyPolicy: one entry for each Gateway whose traffic it affects, one for targets that it is not attached to, and a
 * summary (specification 1, 2.6; decisions ).
 * @param errors findings of the policy with severity `error`
 */
export function policyStatus(policy: PolicyFacts, gatewaysOf: GatewaysOf, errors: readonly Finding[]) {
  const condition = conditionsOf(policy.object)
  const accepted = acceptedCondition(policy, errors)
  const entry = (ancestorRef: AncestorRef, more: () => readonly ConditionDraft[]): Draft => {
    const named = { ancestorRef, controllerName: CONTROLLER_NAME }
    return { ...named, write: () => ({ ...named, conditions: [accepted, ...more()] }) }
  }
  const reached = reachedGateways(policy, gatewaysOf)
  const unattached = unattachedCondition(policy)
  const own = reached.map((gateway) => {
    const [, namespace = '', name = ''] = gateway.split('/')
    return entry({ group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }, () => [
      attachedCondition(policy),
      ...overlappedConditions(policy, (at) => gatewaysOf(at).includes(gateway)),
    ])
  })
  if (unattached !== undefined) own.push(entry(SUMMARY, () => [unattached]))
  const foreign = (policy.object.status?.ancestors ?? [])
    .filter(({ controllerName }) => controllerName !== CONTROLLER_NAME)
    .map((ancestor) => ({ ...ancestor, write: () => ancestor }))
  return {
    conditions:
      own.length === 0
        ? []
        : [
            summaryOf(accepted, own[0]!),
            unattached ?? attachedCondition(policy),
            ...overlappedConditions(policy, (at) => gatewaysOf(at).length > 0),
          ],
    ancestors: limitAncestors([...foreign, ...own].sort(byReference), condition),
  }
}

/** A condition for the whole policy; if it is not True, the message names the first Gateway concerned. */
function summaryOf(condition: ConditionDraft, { ancestorRef }: Pick<Draft, 'ancestorRef'>): ConditionDraft {
  const { kind, namespace, name } = ancestorRef
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

function reachedGateways({ attachments }: PolicyFacts, gatewaysOf: GatewaysOf): readonly string[] {
  return [...new Set(attachments.flatMap(({ target }) => gatewaysOf(target)))].sort(compareText)
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

function byReference(a: { readonly ancestorRef: AncestorRef }, b: { readonly ancestorRef: AncestorRef }): number {
  return compareText(sortKey(a.ancestorRef), sortKey(b.ancestorRef))
}

function sortKey({ group = '', kind = '', name, sectionName = '', port, namespace = '' }: AncestorRef): string {
  return `${group}/${kind}/${name}/${sectionName}/${port ?? ''}.${namespace}`
}

/** Limits the ancestors to 16. If there are more, the last entry of this controller says how many were omitted. */
function limitAncestors(ancestors: readonly Draft[], condition: ReturnType<typeof conditionsOf>): readonly Ancestor[] {
  const kept = ancestors.slice(0, MAX_ANCESTORS)
  const last =
    ancestors.length <= MAX_ANCESTORS
      ? -1
      : kept.findLastIndex(({ controllerName }) => controllerName === CONTROLLER_NAME)
  return kept.map((draft, index) => {
    if (index !== last) return draft.write()
    const message = `${ancestors.length - (MAX_ANCESTORS - 1)} AncestorRefs ignored due to max status size`
    const summarized = condition('StatusSummarized', 'True', 'StatusSummary', message)
    return { ancestorRef: SUMMARY, controllerName: CONTROLLER_NAME, conditions: [summarized] }
  })
}
