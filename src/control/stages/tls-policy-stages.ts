import type { BackendTLSPolicyObject } from '#api/backend-tls-policy.ts'
import type { StageDefinition } from '#base/incremental/stage.ts'
import {
  type AttachedTlsPolicy,
  attachTlsPolicy,
  authorityKeys,
  tlsPolicyItems,
} from '../backends/attach-tls-policy.ts'
import { missedTargets } from '../policies/policy-facts.ts'
import { type OpenContext, reportTo } from './open-context.ts'
import { attachmentContext, fieldTables } from './policy-stages.ts'
import type { Tables } from './tables.ts'
import { writeFields } from './write-policies.ts'

/** Attaches each BackendTLSPolicy to its targets as a policy for `backend.tls`. */
export function tlsPolicyStage(tables: Tables, openContext: OpenContext): StageDefinition<BackendTLSPolicyObject> {
  const { tlsPolicies, reached } = tables
  return {
    name: 'tlsPolicies',
    each: [tables.objects.BackendTLSPolicy],
    writes: [tlsPolicies, reached, ...fieldTables(tables)],
    run([object], work, key) {
      const context = openContext(work)
      const attachment = attachmentContext(tables, work, context.inventory)
      const attached = attachTlsPolicy(context, attachment, object!, context.reportOn(object!))
      work.write(tlsPolicies, key, attached)
      for (const { target } of attached.attachments) work.write(reached, target, true)
      const material = authorityKeys(attached)
      writeFields(tables, work, { items: tlsPolicyItems(attached), backends: [], calls: [], material, faults: [] })
    },
  }
}

/** Reports the targets that a BackendTLSPolicy does not reach. */
export function missedTlsTargetsStage(tables: Tables): StageDefinition<AttachedTlsPolicy> {
  return {
    name: 'missedTlsTargets',
    each: [tables.tlsPolicies],
    writes: [tables.findings],
    run([policy], work) {
      const gatewaysOf = (target: string) => work.read(tables.gatewaysOf, target)[0] ?? []
      missedTargets(policy!, { gatewaysOf, protects: true }, reportTo(tables, work)(policy!.object))
    },
  }
}
