import type { StageDefinition, Work } from '#base/incremental/stage.ts'
import type { RelayRouteItem } from '#plan/item.ts'
import { routeTarget, ruleTarget } from '#plan/target.ts'
import { type OpenContext, reportTo } from '../open-context.ts'
import { writePolicies } from '../policies/write-policies.ts'
import type { Tables } from '../tables.ts'
import { placesOfUse } from '../use.ts'
import { attachRoute, type RouteObject } from './attach-route.ts'
import { reportShadowed } from './report-shadowed.ts'
import { type TranslatedRoute, translateRoute } from './translate-route.ts'

/** Attaches and translates each route; those of other controllers are left out. */
export function routeStage(tables: Tables, openScope: OpenContext): StageDefinition<RouteObject> {
  const { objects, routes, attachedRoutes, relayRules, relayItems, outer, users, wantedBackends, items, findings } =
    tables
  return {
    name: 'routes',
    each: [objects.HTTPRoute, objects.GRPCRoute, objects.TCPRoute, objects.TLSRoute],
    writes: [
      routes,
      attachedRoutes,
      relayRules,
      relayItems,
      outer,
      users,
      wantedBackends,
      items,
      findings,
      tables.policiesAt,
      tables.partial,
      tables.workloadReaders,
    ],
    run([object], work, key) {
      const context = openScope(work)
      const report = context.reportOn(object!)
      const listenersOf = (parent: string) => work.read(tables.listeners, parent)[0]
      const attached = attachRoute({ ...context, listenersOf }, object!, report)
      if (attached === undefined) return
      const translated = translateRoute(context, attached, report)
      work.write(routes, key, translated)
      for (const { key: listener } of attached.listeners) work.write(attachedRoutes, listener, true)
      for (const use of translated.uses) {
        for (const place of placesOfUse(use)) work.write(users, place, use.from)
        work.write(wantedBackends, use.to, true)
      }
      writePlaces(tables, work, translated)
      for (const item of translated.items) {
        work.write(items, item.key, item)
        if (item.kind === 'policy') writePolicies(tables, work, [item])
        else if (item.kind === 'relay-route') {
          work.write(relayItems, item.key, item)
          for (const place of placesOf(item)) work.write(relayRules, place, item)
        }
      }
    },
  }
}

/** A rule lies in its section, if it has a name, and that in the route, which lies in its listeners. */
function writePlaces({ outer }: Tables, work: Work, { route: { object, listeners } }: TranslatedRoute): void {
  const whole = routeTarget(object.kind, object.metadata)
  for (const { target } of listeners) work.write(outer, whole, target)
  for (const [index, { name }] of (object.spec.rules ?? []).entries()) {
    const section = name === undefined ? whole : routeTarget(object.kind, object.metadata, name)
    work.write(outer, ruleTarget(object.kind, object.metadata, index), section)
    if (name !== undefined) work.write(outer, section, whole)
  }
}

/** Where the connections that a rule takes come in. */
function placesOf({ attachments }: RelayRouteItem): readonly string[] {
  return attachments.flatMap(({ listener, hostnames }) =>
    (hostnames.length === 0 ? [''] : hostnames).map((hostname) => `${listener} ${hostname}`),
  )
}

/** Says which rules for connections are never used. */
export function shadowStage(tables: Tables): StageDefinition<RelayRouteItem> {
  const { relayItems, relayRules, findings } = tables
  return {
    name: 'shadowed',
    each: [relayItems],
    writes: [findings],
    run([rule], work) {
      const winners = placesOf(rule!).map((place) => work.read(relayRules, place)[0]!)
      reportShadowed(rule!, winners, reportTo(tables, work))
    },
  }
}
