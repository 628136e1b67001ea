import type { StageDefinition, Work } from '#base/incremental/stage.ts'
import type { RelayRouteItem } from '#plan/item.ts'
import { routeTarget, ruleTarget } from '#plan/target.ts'
import { type OpenContext, reportTo } from '../open-context.ts'
import { writePolicies } from '../policies/write-policies.ts'
import type { Tables } from '../tables.ts'
import { targetsOfUse } from '../use.ts'
import { attachRoute, type RouteObject } from './attach-route.ts'
import { reportShadowed } from './report-shadowed.ts'
import { type TranslatedRoute, translateRoute } from './translate-route.ts'

/** Attaches and translates each route. Routes of other controllers are ignored. */
export function routeStage(tables: Tables, openContext: OpenContext): StageDefinition<RouteObject> {
  const { objects, routes, attachedRoutes, relayRules, relayItems, enclosing, users, wantedBackends, items, findings } =
    tables
  return {
    name: 'routes',
    each: [objects.HTTPRoute, objects.GRPCRoute, objects.TCPRoute, objects.TLSRoute],
    writes: [
      routes,
      attachedRoutes,
      relayRules,
      relayItems,
      enclosing,
      users,
      wantedBackends,
      items,
      findings,
      tables.policiesAt,
      tables.partial,
      tables.workloadReaders,
    ],
    run([object], work, key) {
      const context = openContext(work)
      const report = context.reportOn(object!)
      const listenersOf = (parent: string) => work.read(tables.listeners, parent)[0]
      const attached = attachRoute({ ...context, listenersOf }, object!, report)
      if (attached === undefined) return
      const translated = translateRoute(context, attached, report)
      work.write(routes, key, translated)
      if (translated.accepted === undefined) {
        for (const { key: listener } of attached.listeners) work.write(attachedRoutes, listener, true)
      }
      for (const use of translated.uses) {
        for (const target of targetsOfUse(use)) work.write(users, target, use.from)
        work.write(wantedBackends, use.to, true)
      }
      writeEnclosing(tables, work, translated)
      for (const item of translated.items) {
        work.write(items, item.key, item)
        if (item.kind === 'policy') writePolicies(tables, work, [item])
        else if (item.kind === 'relay-route') {
          work.write(relayItems, item.key, item)
          for (const key of relayKeys(item)) work.write(relayRules, key, item)
        }
      }
    },
  }
}

/** A rule is inside its named section, if any, a section is inside the route, and a route is inside its listeners. */
function writeEnclosing({ enclosing }: Tables, work: Work, { route: { object, listeners } }: TranslatedRoute): void {
  const whole = routeTarget(object.kind, object.metadata)
  for (const { target } of listeners) work.write(enclosing, whole, target)
  for (const [index, { name }] of (object.spec.rules ?? []).entries()) {
    const section = name === undefined ? whole : routeTarget(object.kind, object.metadata, name)
    work.write(enclosing, ruleTarget(object.kind, object.metadata, index), section)
    if (name !== undefined) work.write(enclosing, section, whole)
  }
}

/** The listeners and hostnames whose connections a rule matches, as keys of `relayRules`. */
function relayKeys({ attachments }: RelayRouteItem): readonly string[] {
  return attachments.flatMap(({ listener, hostnames }) =>
    (hostnames.length === 0 ? [''] : hostnames).map((hostname) => `${listener} ${hostname}`),
  )
}

/** Reports TCPRoute and TLSRoute rules that never apply. */
export function shadowStage(tables: Tables): StageDefinition<RelayRouteItem> {
  const { relayItems, relayRules, findings } = tables
  return {
    name: 'shadowed',
    each: [relayItems],
    writes: [findings],
    run([rule], work) {
      const winners = relayKeys(rule!).map((key) => work.read(relayRules, key)[0]!)
      reportShadowed(rule!, winners, reportTo(tables, work))
    },
  }
}
