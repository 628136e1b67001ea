import type { Work } from '#base/incremental/stage.ts'
import type { PolicyItem } from '#plan/item.ts'
import { targetsOfUse } from '../context/use.ts'
import { canBeOverridden, canBePartlyOverridden, mergeKey } from '../policies/find-overlaps.ts'
import type { TranslatedFields } from '../policies/translate-policy.ts'
import type { Tables } from './tables.ts'
import { readsWorkload } from './workload-stages.ts'

/** Writes translated fields to the plan, and marks the backends, Secrets and ConfigMaps that they use as required. */
export function writeFields(tables: Tables, work: Work, { items, backends, calls, material }: TranslatedFields): void {
  for (const item of [...items, ...backends]) work.write(tables.items, item.key, item)
  writePolicies(tables, work, items)
  for (const use of calls) {
    for (const target of targetsOfUse(use)) work.write(tables.callers, target, use.from)
    work.write(tables.wantedBackends, use.to, true)
  }
  for (const key of material) work.write(tables.wantedMaterial, key, true)
}

/** Writes policies to the tables of the stages that compare policies. */
export function writePolicies(
  { policiesAt, partial, workloadReaders }: Tables,
  work: Work,
  policies: readonly PolicyItem[],
): void {
  for (const item of policies) {
    if (canBeOverridden(item)) work.write(policiesAt, mergeKey(item, item.target), item)
    if (canBePartlyOverridden(item)) work.write(partial, item.key, item)
    if (readsWorkload(item)) work.write(workloadReaders, 'any', true)
  }
}
