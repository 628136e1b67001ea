import type { PolicyAncestorStatus } from '#api/policy-status.ts'
import type { Finding } from '#base/finding.ts'
import { CONTROLLER_NAME, GATEWAY_GROUP, OWN_GROUP } from '../controller.ts'
import { compareText } from '../inventory.ts'
import { describeOverlaps } from '../policies/describe-overlaps.ts'
import type { Reach } from '../reach.ts'
import { type ConditionDraft, conditionsOf } from './condition.ts'
import type { PolicyFacts } from './status-facts.ts'

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

/**
 * `status` of a ProxyPolicy: one entry for each Gateway that it reaches, one more for targets that it is not attached to, and a
 * summary (specification 1, 2.6; decisions ).
 * @param errors findings in the policy of severity `error`
 */
export function policyStatus(policy: PolicyFacts, reach: Reach, errors: readonly Finding[]) {
  const condition = conditionsOf(policy.object)
  const accepted = acceptedCondition(policy, errors)
  const entry = (
    ancestorRef: AncestorRef,
    attached: ConditionDraft,
    overlapped: readonly ConditionDraft[],
  ): Ancestor => ({
    ancestorRef,
    controllerName: CONTROLLER_NAME,
    conditions: [accepted, attached, ...overlapped],
  })
  const own = gatewaysOf(policy, reach).map((gateway) => {
    const [, namespace = '', name = ''] = gateway.split('/')
    const extent = policy.misses.length === 0 ? 'Attached to all targets' : 'Attached to its targets at this Gateway'
    const attached = condition('Attached', 'True', 'Attached', extent)
    const ref = { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }
    return entry(ref, attached, overlappedConditions(policy, reach, gateway))
  })
  if (policy.misses.length > 0) {
    const lines = [...new Set(policy.misses.map(({ message }) => message))].join('\n')
    own.push(entry(SUMMARY, condition('Attached', 'False', 'Pending', lines), []))
  }
  const foreign = (policy.object.status?.ancestors ?? []).filter(
    ({ controllerName }) => controllerName !== CONTROLLER_NAME,
  )
  return {
    conditions: summarise(own, condition),
    ancestors: limitAncestors([...foreign, ...own].sort(byReference), condition),
  }
}

/** The Gateways that a policy reaches, as targets, sorted. */
function gatewaysOf({ places }: PolicyFacts, reach: Reach): readonly string[] {
  return [...new Set(places.flatMap(({ target }) => reach.gatewaysOf(target)))].sort(compareText)
}

/** Not being attached, or losing against others, does not make a policy less valid. */
function acceptedCondition({ object }: PolicyFacts, errors: readonly Finding[]): ConditionDraft {
  const condition = conditionsOf(object)
  const faults = errors.filter(({ path, code }) => !path.startsWith('spec.target') && !code.startsWith('overridden-'))
  if (faults.length === 0) return condition('Accepted', 'True', 'Valid', 'Policy accepted')
  const lines = [...new Set(faults.map(({ path, message }) => `${path}: ${message}`))].join('\n')
  return condition('Accepted', 'True', 'PartiallyValid', lines)
}

function overlappedConditions(policy: PolicyFacts, reach: Reach, gateway: string): readonly ConditionDraft[] {
  const here = policy.overlaps.filter(({ at }) => reach.gatewaysOf(at).includes(gateway))
  if (here.length === 0) return []
  return [conditionsOf(policy.object)('Overlapped', 'True', 'FieldsOverridden', describeOverlaps(here))]
}

/** True only if True everywhere; the message names the first place where it is not. */
function summarise(own: readonly Ancestor[], condition: ReturnType<typeof conditionsOf>): readonly ConditionDraft[] {
  return (['Accepted', 'Attached'] as const).map((type) => {
    const all = own.flatMap(({ ancestorRef, conditions = [] }) =>
      conditions.filter((it) => it.type === type).map((it) => ({ ancestorRef, it })),
    )
    const bad = all.find(({ it }) => it.status !== 'True')
    if (bad !== undefined) {
      const message = `${nameOf(bad.ancestorRef)}: ${bad.it.message}`
      return condition(type, bad.it.status, bad.it.reason, message)
    }
    const first = all.find(({ it }) => it.reason === 'PartiallyValid') ?? all[0]
    return condition(type, 'True', first?.it.reason ?? type, first?.it.message ?? '')
  })
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
function limitAncestors<A extends { readonly ancestorRef: AncestorRef; readonly controllerName: string }>(
  ancestors: readonly A[],
  condition: ReturnType<typeof conditionsOf>,
): readonly (A | Ancestor)[] {
  if (ancestors.length <= MAX_ANCESTORS) return ancestors
  const kept: (A | Ancestor)[] = ancestors.slice(0, MAX_ANCESTORS)
  const last = kept.findLastIndex(({ controllerName }) => controllerName === CONTROLLER_NAME)
  if (last < 0) return kept
  const ignored = ancestors.length - (MAX_ANCESTORS - 1)
  const message = `${ignored} AncestorRefs ignored due to max status size`
  kept[last] = {
    ancestorRef: SUMMARY,
    controllerName: CONTROLLER_NAME,
    conditions: [condition('StatusSummarized', 'True', 'StatusSummary', message)],
  }
  return kept
}
