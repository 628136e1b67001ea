import { keyOf, objectKey } from '#api/object.ts'
import { append } from '../append.ts'
import type { Reach } from '../reach.ts'
import type { ReportOn } from '../reporting.ts'
import type { PolicyFacts } from '../status/status-facts.ts'
import type { Overlap } from './find-overlaps.ts'
import type { PlacedPolicy, PolicyMiss } from './place-policy.ts'

interface Scope {
  readonly policies: readonly PlacedPolicy[]
  readonly overlaps: readonly Overlap[]
  readonly reach: Reach
  readonly reportOn: ReportOn
}

/** What became of each policy: where it is attached, where it is not, and where it loses. */
export function settlePolicies({ policies, overlaps, reach, reportOn }: Scope): readonly PolicyFacts[] {
  const byPolicy = new Map<string, Overlap[]>()
  for (const overlap of overlaps) {
    const { kind, namespace, name } = overlap.loser.origin
    append(byPolicy, objectKey(kind, namespace, name), overlap)
  }
  return policies.map(({ object, places, misses }) => {
    const all = [...misses, ...unreached(places, reach)]
    const report = reportOn(object)
    for (const miss of all) report({ ...miss, severity: 'error' })
    return { object, places, misses: all, overlaps: byPolicy.get(keyOf(object)) ?? [] }
  })
}

/** Places that exist, but to which no Gateway sends anything. */
function unreached(places: PlacedPolicy['places'], reach: Reach): readonly PolicyMiss[] {
  return places
    .filter(({ target }) => reach.gatewaysOf(target).length === 0)
    .map(({ path, title }) => ({
      path,
      code: 'target-not-attached',
      message: `Policy is not attached: ${title} is not attached to any Gateway`,
    }))
}
