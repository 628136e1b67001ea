import type { GatewayObject } from '#api/gateway.ts'
import { type ApiObject, keyOf } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import type { PlanItem } from '#plan/item.ts'
import { isIdle, serviceItems } from './backends/service-items.ts'
import { translateBackend } from './backends/translate-backend.ts'
import { isServed } from './gateways/listener.ts'
import { listenerItem } from './gateways/listener-item.ts'
import { placeGateways } from './gateways/place-gateways.ts'
import { readGrants } from './grants.ts'
import { collect } from './inventory.ts'
import { findOverlaps, reportOverlaps } from './policies/find-overlaps.ts'
import { placePolicy } from './policies/place-policy.ts'
import { settlePolicies } from './policies/settle-policies.ts'
import { joinFields, translatePolicy } from './policies/translate-policy.ts'
import { measureReach } from './reach.ts'
import { materialItems } from './references/material-items.ts'
import { reportUnused } from './report-unused.ts'
import { collectFindings } from './reporting.ts'
import { attachRoutes } from './routes/attach-routes.ts'
import { translateRoute } from './routes/translate-route.ts'
import { buildStatuses } from './status/build-statuses.ts'
import type { StatusFacts } from './status/status-facts.ts'
import type { Translation } from './translation.ts'

export interface TranslateOptions {
  /** Where the listeners of a Gateway listen; the loopback address when unset. */
  readonly address?: (gateway: GatewayObject) => string
}

const LOOPBACK = '127.0.0.1'

/**
 * Turns all objects into the plan, the statuses and the findings. Pure: the same objects, in whatever order, give the same result.
 * @param objects valid ones, at most one for each kind, namespace and name
 */
export function translate(objects: readonly ApiObject[], options: TranslateOptions = {}): Translation {
  const findings: Finding[] = []
  const reportOn = collectFindings(findings)

  // collect
  const inventory = collect(objects)
  const grants = readGrants(inventory)
  const scope = { inventory, grants, reportOn }

  // attach
  const gateways = placeGateways({ ...scope, addressOf: options.address ?? (() => LOOPBACK) })
  const routes = attachRoutes({ ...scope, gateways })
  const backends = inventory.all('ProxyBackend').map((it) => translateBackend(scope, it, reportOn(it)))
  const sections = new Map(backends.map(({ object, sections: names }) => [keyOf(object), names]))
  const placed = inventory
    .all('ProxyPolicy')
    .map((it) => placePolicy({ inventory, listeners: gateways.listeners, sections }, it))

  // items
  const rules = routes.map((route) => ({ route, ...translateRoute(scope, route, reportOn(route.object)) }))
  const policies = placed.map((it) => translatePolicy(scope, it, reportOn(it.object)))
  const fields = joinFields([...backends.map((it) => it.fields), ...policies])
  const routed = rules.flatMap(({ uses }) => uses)
  const called = [...fields.calls, ...backends.flatMap(({ uses }) => uses)]
  const listeners = [...gateways.listeners.values()].flat().filter(isServed)
  const used = new Set([...routed, ...called].map(({ to }) => to))
  const material = new Set([...fields.material, ...listeners.flatMap(({ certificates }) => certificates)])
  const services = serviceItems(inventory, used, reportOn)
  const items: PlanItem[] = [
    ...listeners.map(listenerItem),
    ...rules.flatMap((it) => it.items),
    ...backends.map(({ item }) => item),
    ...services,
    ...fields.items,
    ...materialItems(inventory, material),
  ]

  // status
  const reach = measureReach({ gateways, routes, routed, called, sections })
  const policyItems = items.filter((item) => item.kind === 'policy')
  const overlaps = findOverlaps(policyItems, reach.around)
  reportOverlaps(overlaps, reportOn)
  const facts: StatusFacts = {
    classes: gateways.classes,
    gateways,
    routes: rules,
    idleServices: new Set(services.filter(isIdle).map(({ key }) => key.replace('Endpoints/', 'Service/'))),
    backends,
    policies: settlePolicies({ policies: placed, overlaps, reach, reportOn }),
    reach,
  }
  reportUnused(inventory, gateways, reportOn)
  const bindings = new Map()
  return {
    items: new Map(items.map((item) => [item.key, item])),
    facts,
    findings,
    bindings,
    statuses: buildStatuses(facts, findings, bindings),
  }
}
