import { findKind } from '#api/kinds.ts'
import type { ApiObject } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import { adviseForwardedHeaders } from '#control/gateways/forwarded-headers.ts'
import { RecordedLookups } from '#engine/plan/lookups.ts'
import { openBesideProtected } from '#engine/plan/open-beside-protected.ts'
import { PlanIndex } from '#engine/plan/plan-index.ts'
import type { PlanItem } from '#plan/item.ts'
import { walk } from '#schema/index.ts'

/** Advice that looks at all objects together, so that only `lint -v` gives it, and no gateway that serves. */
export function advise(items: ReadonlyMap<string, PlanItem>, objects: readonly ApiObject[]): readonly Finding[] {
  const all = [...items.values()]
  const plan = new RecordedLookups(PlanIndex.EMPTY.after({ set: all, removed: [] }))
  const rules = all.filter((item) => item.kind === 'route')
  return [
    ...adviseForwardedHeaders(all, objects),
    ...openBesideProtected(rules, plan),
    ...objects.flatMap(credentialsIn),
  ]
}

function credentialsIn(object: ApiObject): readonly Finding[] {
  const info = findKind(object.kind)
  if (info?.own !== true) return []
  return [...walk(info.schema, object)].flatMap(({ node, value, path }) => {
    if (node.secret === undefined || typeof value !== 'string') return []
    const message =
      'the credential is in the object itself, and everybody who can read the object can read it; put it into a Secret'
    return [{ origin: object.origin, path, code: 'credential-in-object', message, severity: 'advice' as const }]
  })
}
