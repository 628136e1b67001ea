import type { Work } from '#base/incremental/stage.ts'
import type { PolicyItem } from '#plan/item.ts'
import type { Tables } from '../tables.ts'
import { placesOfUse } from '../use.ts'
import { readsWorkload } from '../workload-stages.ts'
import { canLoseAll, canLosePart, placeKey } from './find-overlaps.ts'
import type { TranslatedFields } from './translate-policy.ts'

/** Puts translated fields into the plan, and what they call and read among what is wanted. */
export function writeFields(tables: Tables, work: Work, { items, calls, material }: TranslatedFields): void {
  for (const item of items) work.write(tables.items, item.key, item)
  writePolicies(tables, work, items)
  for (const use of calls) {
    for (const place of placesOfUse(use)) work.write(tables.callers, place, use.from)
    work.write(tables.wantedBackends, use.to, true)
  }
  for (const key of material) work.write(tables.wantedMaterial, key, true)
}

/** Puts policies where those look that compare them with others. */
export function writePolicies(
  { policiesAt, partial, workloadReaders }: Tables,
  work: Work,
  policies: readonly PolicyItem[],
): void {
  for (const item of policies) {
    if (canLoseAll(item)) work.write(policiesAt, placeKey(item, item.target), item)
    if (canLosePart(item)) work.write(partial, item.key, item)
    if (readsWorkload(item)) work.write(workloadReaders, 'any', true)
  }
}
