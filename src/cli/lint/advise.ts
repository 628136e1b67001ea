import { findKind, isKind } from '#api/kinds.ts'
import type { ApiObject } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import { adviseForwardedHeaders } from '#control/gateways/forwarded-headers.ts'
import { RecordedLookups } from '#engine/lookups/lookups.ts'
import { PlanIndex } from '#engine/lookups/plan-index.ts'
import { openBesideProtected } from '#engine/plan/open-beside-protected.ts'
import { plainCredentials } from '#engine/plan/plain-credentials.ts'
import type { PlanItem } from '#plan/item.ts'
import { hasPrivateKey } from '#policies/shared/authentication/read-key-set.ts'
import { walk } from '#schema/index.ts'

/** Advice that looks at all objects together, so that only `lint -v` gives it, and no gateway that serves. */
export function advise(items: ReadonlyMap<string, PlanItem>, objects: readonly ApiObject[]): readonly Finding[] {
  const all = [...items.values()]
  const plan = new RecordedLookups(PlanIndex.EMPTY.after({ set: all, removed: [] }))
  const rules = all.filter((item) => item.kind === 'route')
  return [
    ...adviseForwardedHeaders(all, objects),
    ...openBesideProtected(rules, plan),
    ...plainCredentials(rules, plan),
    ...objects.flatMap(adviseOnFields),
    ...objects.flatMap(adviseOnTargets),
  ]
}

/** Credentials that are written in the object, and deprecated fields. */
function adviseOnFields(object: ApiObject): readonly Finding[] {
  const info = findKind(object.kind)
  if (info?.own !== true) return []
  const { origin } = object
  return [...walk(info.schema, object)].flatMap(({ node, value, path }): readonly Finding[] => {
    if (node.secret !== undefined && typeof value === 'string') {
      if (node.secret === 'key-set' && !hasPrivateKey(value)) return []
      const message =
        node.secret === 'key-set'
          ? 'has a private key, and everybody who can read the object can read it; write only its public part'
          : 'the credential is in the object itself, and everybody who can read the object can read it; put it into a Secret'
      return [{ origin, path, code: 'credential-in-object', message, severity: 'advice' as const }]
    }
    if (node.replacedBy === undefined) return []
    const message = `is deprecated; use ${node.replacedBy}`
    return [{ origin, path, code: 'field-deprecated', message, severity: 'advice' as const }]
  })
}

/** For Services of the cluster, selectors are preferred (specification 1, 2.3.4). */
function adviseOnTargets(object: ApiObject): readonly Finding[] {
  if (!isKind(object, 'ProxyBackend')) return []
  const { origin, spec } = object
  return (spec.mcp?.targets ?? []).flatMap((target, at): readonly Finding[] => {
    const named = target.static?.backendRef
    if (named === undefined) return []
    const message = `names the Service ${named.name}; a selector is preferred for Services: it finds them by their labels, also those that are added later`
    const path = `spec.mcp.targets[${at}].static.backendRef`
    return [{ origin, path, code: 'mcp-service-named', message, severity: 'advice' as const }]
  })
}
