import type { ObjectsByKind } from '#api/kinds.ts'
import type { StageDefinition } from '#base/incremental/stage.ts'
import { pairKey } from '../context/grants.ts'
import type { Tables } from './tables.ts'

/** Indexes the pairs of `from` and `to` of each ReferenceGrant. */
export function grantStage(tables: Tables): StageDefinition<ObjectsByKind['ReferenceGrant']> {
  return {
    name: 'grants',
    each: [tables.objects.ReferenceGrant],
    writes: [tables.grants],
    run([grant], work) {
      const { metadata, spec } = grant!
      for (const from of spec.from) {
        for (const to of spec.to) {
          const target = { group: to.group, kind: to.kind, namespace: metadata.namespace, name: to.name ?? '' }
          work.write(tables.grants, pairKey(from, target), true)
        }
      }
    },
  }
}
