import type { Report } from '../reporting.ts'
import type { Overlap } from './find-overlaps.ts'
import type { AttachedPolicy, PolicyMiss } from './place-policy.ts'

/** What became of a policy: where it is attached, where it is not, and where it loses. */
export interface PolicyFacts extends AttachedPolicy {
  readonly overlaps: readonly Overlap[]
}

export function policyFactsOf(
  { object, places, misses }: AttachedPolicy,
  {
    overlaps,
    gatewaysOf,
  }: { readonly overlaps: readonly Overlap[]; readonly gatewaysOf: (place: string) => readonly string[] },
  report: Report,
): PolicyFacts {
  const all = [...misses, ...unreached(places, gatewaysOf)]
  for (const miss of all) report({ ...miss, severity: 'error' })
  return { object, places, misses: all, overlaps }
}

/** Places that exist, but to which no Gateway sends anything. */
function unreached(
  places: AttachedPolicy['places'],
  gatewaysOf: (place: string) => readonly string[],
): readonly PolicyMiss[] {
  return places
    .filter(({ target }) => gatewaysOf(target).length === 0)
    .map(({ path, title }) => ({
      path,
      code: 'target-not-attached',
      message: `Policy is not attached: ${title} is not attached to any Gateway`,
    }))
}
