import { type ApiObject, keyOf, objectKey } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import { append } from '../append.ts'
import type { TranslatedRoute } from '../routes/translate-route.ts'
import type { Binding, ObjectStatus } from '../translation.ts'
import { backendStatus } from './backend-status.ts'
import { conditionsOf } from './condition.ts'
import { gatewayStatus, listenerSetStatus } from './gateway-status.ts'
import { policyStatus } from './policy-status.ts'
import { routeStatus } from './route-status.ts'
import type { StatusFacts } from './status-facts.ts'

/** Writes the statuses of all objects that have one. */
export function buildStatuses(
  facts: StatusFacts,
  findings: readonly Finding[],
  bindings: ReadonlyMap<string, Binding>,
): readonly ObjectStatus[] {
  const found = findingsByObject(findings)
  const findingsOn = (object: ApiObject) => found.get(keyOf(object)) ?? []
  const traffic = { attachedRoutes: countAttached(facts.routes), bindings }
  return [
    ...facts.classes.map((object) =>
      statusOf(object, { conditions: [conditionsOf(object)('Accepted', 'True', 'Accepted', 'Class accepted')] }),
    ),
    ...facts.gateways.gateways.map((gateway) => statusOf(gateway.object, gatewayStatus(gateway, traffic))),
    ...facts.gateways.listenerSets.map((set) => statusOf(set.object, listenerSetStatus(set, traffic))),
    ...facts.routes.map((route) => statusOf(route.route.object, routeStatus(route, facts.idleServices))),
    ...facts.backends.map((it) => statusOf(it.object, backendStatus(it, findingsOn(it.object)))),
    ...facts.policies.map((it) =>
      statusOf(it.object, policyStatus(it, facts.reach, findingsOn(it.object).filter(isError))),
    ),
  ]
}

function statusOf(
  { kind, metadata }: Pick<ApiObject, 'kind' | 'metadata'>,
  status: ObjectStatus['status'],
): ObjectStatus {
  return { kind, namespace: metadata.namespace, name: metadata.name, status }
}

function findingsByObject(findings: readonly Finding[]): ReadonlyMap<string, readonly Finding[]> {
  const found = new Map<string, Finding[]>()
  for (const finding of findings) {
    const { kind, namespace, name } = finding.origin
    append(found, objectKey(kind, namespace, name), finding)
  }
  return found
}

function isError({ severity }: Finding): boolean {
  return severity === 'error'
}

function countAttached(routes: readonly TranslatedRoute[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { route } of routes) {
    for (const { key } of route.listeners) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
