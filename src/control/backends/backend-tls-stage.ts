import type { BackendTLSPolicyObject } from '#api/backend-tls-policy.ts'
import { objectKey } from '#api/object.ts'
import type { StageDefinition } from '#base/incremental/stage.ts'
import { reportTo } from '../open-context.ts'
import type { Tables } from '../tables.ts'
import type { TlsDemand } from './tls-demand.ts'

/**
 * BackendTLSPolicy is not implemented yet. What it protects must not be sent in plain text, so its targets refuse requests (decision A-36).
 */
export function backendTlsStage(tables: Tables): StageDefinition<BackendTLSPolicyObject> {
  return {
    name: 'backendTls',
    each: [tables.objects.BackendTLSPolicy],
    writes: [tables.tlsDemands, tables.findings],
    run([object], work) {
      const { metadata, spec } = object!
      for (const { kind, name, sectionName } of spec.targetRefs) {
        const demand: TlsDemand = { policy: metadata.name, sectionName }
        work.write(tables.tlsDemands, objectKey(kind, metadata.namespace, name), demand)
      }
      const message = 'BackendTLSPolicy is not implemented yet; requests to its targets are refused'
      reportTo(tables, work)(object!)({ path: 'spec', code: 'not-implemented', message, severity: 'error' })
    },
  }
}
