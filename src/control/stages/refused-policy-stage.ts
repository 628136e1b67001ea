import type { ApiObject } from '#api/object.ts'
import type { RefusedPolicy } from '#api/refused-policy.ts'
import type { StageDefinition, Work } from '#base/incremental/stage.ts'
import type { Source } from '#base/incremental/table.ts'
import { describeOrigin } from '#base/origin.ts'
import type { PolicyItem } from '#plan/item.ts'
import { hasLabels } from '../context/label-selector.ts'
import { policyItem } from '../context/policy-item.ts'
import type { Report } from '../context/reporting.ts'
import {
  type AttachedPolicy,
  attachTargets,
  attachWhole,
  isTargetKind,
  protectsNothing,
  type TargetAttachment,
} from '../policies/attach-policy.ts'
import { type OpenContext, reportTo } from './open-context.ts'
import { attachmentContext } from './policy-stages.ts'
import type { Tables } from './tables.ts'

export const REFUSED_POLICIES = 'refusedPolicies'

/** Makes the targets of invalid policies refuse everything, if the policies protect them (decision A-09). */
export function refusedPolicyStage(tables: Tables, openContext: OpenContext): StageDefinition<RefusedPolicy> {
  return {
    name: REFUSED_POLICIES,
    each: [tables.refusedPolicies],
    writes: [tables.items, tables.findings],
    run(policies, work) {
      const context = attachmentContext(tables, work, openContext(work).inventory)
      for (const policy of policies) {
        const { attachments, unattached } = attachTargets(context, policy.origin.namespace, policy)
        for (const attachment of attachments) {
          const item = policyItem(refusalOf(policy), attachment)
          work.write(tables.items, item.key, item)
          reportOnTarget(tables, work, policy, attachment)
        }
        reportOnPolicy(reportTo(tables, work)(policy), policy, { attachments, unattached })
      }
    },
  }
}

/**
 * The last resort for a policy whose targets a bug keeps from being found: all objects that it names or selects refuse as a whole, whatever
 * their sections and whoever serves them.
 */
export function refuseNamed({ ofNamespace }: Tables, policy: RefusedPolicy): readonly PolicyItem[] {
  const { namespace } = policy.origin
  const named = policy.targetRefs.map(({ kind, name }) => ({ kind, metadata: { namespace, name } }))
  const selected = policy.targetSelectors.flatMap(({ kind, matchLabels }) =>
    ofNamespace.rows(`${kind}/${namespace}`).filter(({ metadata: { labels = {} } }) => hasLabels(labels, matchLabels)),
  )
  return [...named, ...selected].flatMap(({ kind, metadata }) =>
    isTargetKind(kind) ? [policyItem(refusalOf(policy), attachWhole(kind, metadata))] : [],
  )
}

function refusalOf({ origin }: RefusedPolicy): Parameters<typeof policyItem>[0] {
  return {
    object: { kind: origin.kind, metadata: { namespace: origin.namespace, name: origin.name }, origin },
    section: 'traffic',
    phase: 'PostRouting',
    field: 'refusedPolicy',
    path: 'spec',
    spec: {},
  }
}

/** Names exactly the targets that refuse: those of a policy with errors may be missing, too. */
function reportOnPolicy(
  report: Report,
  { protects }: RefusedPolicy,
  { attachments, unattached }: Pick<AttachedPolicy, 'attachments' | 'unattached'>,
): void {
  const refusing = attachments.map(({ title }) => title).join(', ')
  if (refusing !== '') {
    const message = `a gateway that starts with it refuses all requests to ${refusing} until it is valid: ${protects.join(', ')} may protect them`
    report({ path: '', code: 'policy-refuses', message, severity: 'error' })
  }
  for (const { code, message } of unattached) {
    report({ path: '', code, message: refusing === '' ? protectsNothing(message) : message, severity: 'error' })
  }
}

function reportOnTarget(tables: Tables, work: Work, { origin }: RefusedPolicy, target: TargetAttachment): void {
  const [object] = work.read(tables.objects[target.kind] as Source<ApiObject>, target.object)
  if (object === undefined) return
  const what = target.section === undefined ? 'all requests' : `all requests to section ${target.section}`
  const message = `a gateway that starts with ${describeOrigin(origin)} refuses ${what} until the policy is valid`
  reportTo(tables, work)(object)({ path: '', code: 'policy-refuses', message, severity: 'error' })
}
