import type { PolicyAncestorStatus } from '#api/policy-status.ts'
import type { Finding } from '#base/finding.ts'
import { CONTROLLER_NAME, GATEWAY_GROUP, OWN_GROUP } from '../controller.ts'
import { compareText } from '../inventory.ts'
import { describeOverlaps } from '../policies/describe-overlaps.ts'
import type { PolicyFacts } from '../policies/policy-facts.ts'
import { type ConditionDraft, conditionsOf } from './condition.ts'

/** How many ancestors a status can name. */
const MAX_ANCESTORS = 16

/** The name of the entry that stands for what no Gateway stands for. */
const SUMMARY = { group: OWN_GROUP, name: 'StatusSummary' }

type AncestorRef = Partial<PolicyAncestorStatus['ancestorRef']> & { readonly name: string }

interface Ancestor {
  readonly ancestorRef: AncestorRef
  readonly controllerName: string
  readonly conditions?: readonly ConditionDraft[]
}

/** The Gateways, by target and sorted, whose traffic comes to a place. */
type GatewaysOf = (place: string) => readonly string[]

/** An entry that is written only if the status has room for it: a policy may reach thousands of Gateways. */
interface Draft {
  readonly ancestorRef: AncestorRef
  readonly controllerName: string
  readonly write: () => Ancestor
}

/**
 * `status` of a ProxyPolicy: one entry for each Gateway that it reaches, one more for targets that it is not attached to, and a
 * summary (specification 1, 2.6; decisions ).
 * @param errors findings in the policy of severity `error`
 */
export function policyStatus(policy: PolicyFacts, gatewaysOf: GatewaysOf, errors: readonly Finding[]) {
  const condition = conditionsOf(policy.object)
  const accepted = acceptedCondition(policy, errors)
  const entry = (ancestorRef: AncestorRef, more: () => readonly ConditionDraft[]): Draft => {
    const named = { ancestorRef, controllerName: CONTROLLER_NAME }
    return { ...named, write: () => ({ ...named, conditions: [accepted, ...more()] }) }
  }
  const reached = reachedGateways(policy, gatewaysOf)
  const missed = missedCondition(policy)
  const own = reached.map((gateway) => {
    const [, namespace = '', name = ''] = gateway.split('/')
    return entry({ group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }, () => [
      attachedCondition(policy),
      ...overlappedConditions(policy, gatewaysOf, gateway),
    ])
  })
  if (missed !== undefined) own.push(entry(SUMMARY, () => [missed]))
  const foreign = (policy.object.status?.ancestors ?? [])
    .filter(({ controllerName }) => controllerName !== CONTROLLER_NAME)
    .map((ancestor) => ({ ...ancestor, write: () => ancestor }))
  return {
    conditions:
      own.length === 0
        ? []
        : [
            summaryOf(accepted, own[0]!),
            missed === undefined ? attachedCondition(policy) : summaryOf(missed, { ancestorRef: SUMMARY }),
          ],
    ancestors: limitAncestors([...foreign, ...own].sort(byReference), condition),
  }
}

/** What holds of the policy as a whole; the message names the first place where it is not so. */
function summaryOf(condition: ConditionDraft, { ancestorRef }: Pick<Draft, 'ancestorRef'>): ConditionDraft {
  if (condition.status === 'True') return condition
  return { ...condition, message: `${nameOf(ancestorRef)}: ${condition.message}` }
}

function attachedCondition({ object, misses }: PolicyFacts): ConditionDraft {
  const extent = misses.length === 0 ? 'Attached to all targets' : 'Attached to its targets at this Gateway'
  return conditionsOf(object)('Attached', 'True', 'Attached', extent)
}

/** Targets that it is not attached to, in one condition. */
function missedCondition({ object, misses }: PolicyFacts): ConditionDraft | undefined {
  if (misses.length === 0) return undefined
  const lines = [...new Set(misses.map(({ message }) => message))].join('\n')
  return conditionsOf(object)('Attached', 'False', 'Pending', lines)
}

function reachedGateways({ places }: PolicyFacts, gatewaysOf: GatewaysOf): readonly string[] {
  return [...new Set(places.flatMap(({ target }) => gatewaysOf(target)))].sort(compareText)
}

/** Not being attached, or losing against others, does not make a policy less valid. */
function acceptedCondition({ object }: PolicyFacts, errors: readonly Finding[]): ConditionDraft {
  const condition = conditionsOf(object)
  const faults = errors.filter(({ path, code }) => !path.startsWith('spec.target') && !code.startsWith('overridden-'))
  if (faults.length === 0) return condition('Accepted', 'True', 'Valid', 'Policy accepted')
  const lines = [...new Set(faults.map(({ path, message }) => `${path}: ${message}`))].join('\n')
  return condition('Accepted', 'True', 'PartiallyValid', lines)
}

function overlappedConditions(policy: PolicyFacts, gatewaysOf: GatewaysOf, gateway: string): readonly ConditionDraft[] {
  const here = policy.overlaps.filter(({ at }) => gatewaysOf(at).includes(gateway))
  if (here.length === 0) return []
  return [conditionsOf(policy.object)('Overlapped', 'True', 'FieldsOverridden', describeOverlaps(here))]
}

function nameOf({ kind, namespace, name }: AncestorRef): string {
  return kind === undefined ? name : `${kind} ${namespace}/${name}`
}

function byReference(a: { readonly ancestorRef: AncestorRef }, b: { readonly ancestorRef: AncestorRef }): number {
  return compareText(sortKey(a.ancestorRef), sortKey(b.ancestorRef))
}

function sortKey({ group = '', kind = '', name, sectionName = '', port, namespace = '' }: AncestorRef): string {
  return `${group}/${kind}/${name}/${sectionName}/${port ?? ''}.${namespace}`
}

/** A status has room for 16: of more, the last of ours among them says how many are missing. */
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
