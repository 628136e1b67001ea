import type { ApiObject } from '#api/object.ts'
import type { RefusedPolicy } from '#api/refused-policy.ts'
import type { StageDefinition, Work } from '#base/incremental/stage.ts'
import type { Source } from '#base/incremental/table.ts'
import { describeOrigin } from '#base/origin.ts'
import { type OpenContext, reportTo } from '../open-context.ts'
import type { Report } from '../reporting.ts'
import type { Tables } from '../tables.ts'
import { type AttachedPolicy, attachTargets, protectsNothing, type TargetAttachment } from './attach-policy.ts'
import { policyItem } from './policy-item.ts'
import { attachmentContext } from './policy-stages.ts'

/** Makes the targets of invalid policies refuse everything, if the policies protect them (decision A-09). */
export function refusedPolicyStage(tables: Tables, openContext: OpenContext): StageDefinition<RefusedPolicy> {
  return {
    name: 'refusedPolicies',
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
