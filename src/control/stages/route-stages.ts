import type { StageDefinition, Work } from '#base/incremental/stage.ts'
import { routeTarget, ruleTarget } from '#plan/target.ts'
import { targetsOfUse } from '../context/use.ts'
import { attachRoute } from '../routes/attach-route.ts'
import { checkParents } from '../routes/check-parents.ts'
import { type ListenerMatch, type MatchedRoute, matchRoute } from '../routes/match-route.ts'
import { type Contender, contenderOf, findDisplaced } from '../routes/mixed-kinds.ts'
import {
  type AnyRule,
  type CoveredPattern,
  coveredPatterns,
  describeRule,
  reportShadowed,
  ruleKeys,
  type Shadowed,
} from '../routes/report-shadowed.ts'
import { isRelayRoute, type RouteObject } from '../routes/route-object.ts'
import { type TranslatedRoute, translateRoute } from '../routes/translate-route.ts'
import { type OpenContext, reportTo } from './open-context.ts'
import type { Tables } from './tables.ts'
import { writePolicies } from './write-policies.ts'

/** Finds the listeners that each route asks for. Routes of other controllers are ignored. @param isAlone there are no other controllers */
export function matchStage(tables: Tables, openContext: OpenContext, isAlone: boolean): StageDefinition<RouteObject> {
  const { objects, matchedRoutes, httpContenders, grpcContenders } = tables
  return {
    name: 'matchedRoutes',
    each: [objects.HTTPRoute, objects.GRPCRoute, objects.TCPRoute, objects.TLSRoute],
    writes: [matchedRoutes, httpContenders, grpcContenders, tables.findings],
    run([object], work, key) {
      const context = openContext(work)
      checkParents(context, object!)
      const listenersOf = (parent: string) => work.read(tables.listeners, parent)[0]
      const report = context.reportOn(object!)
      const matched = matchRoute({ inventory: context.inventory, report, isAlone, listenersOf }, object!)
      if (matched === undefined) return
      work.write(matchedRoutes, key, matched)
      if (isRelayRoute(object!)) return
      const contenders = object!.kind === 'HTTPRoute' ? httpContenders : grpcContenders
      for (const { matches } of matched.parents) {
        for (const match of matches) work.write(contenders, match.listener.key, contenderOf(matched, match))
      }
    },
  }
}

/** Decides between the HTTPRoutes and GRPCRoutes of a listener. Most listeners have no GRPCRoutes, and no node here. */
export function displacedStage(tables: Tables): StageDefinition<Contender> {
  const { httpContenders, grpcContenders, displaced, displacing } = tables
  return {
    name: 'displaced',
    each: [grpcContenders],
    writes: [displaced, displacing],
    run(ofGrpc, work, listener) {
      const found = findDisplaced([...ofGrpc, ...work.read(httpContenders, listener)])
      for (const [route, message] of found) work.write(displaced, route, { listener, message })
      if (found.size > 0) work.write(displacing, listener, true)
    },
  }
}

/**
 * Routes ask their listeners first: nearly all of these have routes of one kind only. All routes of a listener run again when it gets its first
 * displaced route, or loses the last one.
 */
function displacementsOf({ displaced, displacing }: Tables, work: Work, { parents }: MatchedRoute, key: string) {
  const isDisplacing = ({ listener }: ListenerMatch) => work.count(displacing, listener.key) > 0
  return parents.some(({ matches }) => matches.some(isDisplacing)) ? work.read(displaced, key) : []
}

/** Attaches and translates each route. */
export function routeStage(tables: Tables, openContext: OpenContext): StageDefinition<MatchedRoute> {
  const { matchedRoutes, routes, attachedRoutes, rulesAt, patternsAt, enclosing, users } = tables
  const { wantedBackends, items, findings } = tables
  return {
    name: 'routes',
    each: [matchedRoutes],
    writes: [
      routes,
      attachedRoutes,
      rulesAt,
      patternsAt,
      enclosing,
      users,
      wantedBackends,
      items,
      findings,
      tables.policiesAt,
      tables.partial,
      tables.workloadReaders,
    ],
    run([matched], work, key) {
      const context = openContext(work)
      const report = context.reportOn(matched!.object)
      const attached = attachRoute(matched!, displacementsOf(tables, work, matched!, key), report)
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
        else if (item.kind === 'route' || item.kind === 'relay-route') {
          for (const key of ruleKeys(item)) work.write(rulesAt, key, item)
          if (item.kind !== 'route') continue
          for (const [key, covered] of coveredPatterns(item)) work.write(patternsAt, key, covered)
        }
      }
    },
  }
}

/** A rule with a name is inside its section, a section is inside the route, and a route is inside its listeners. See also `routeOfRule`. */
function writeEnclosing({ enclosing }: Tables, work: Work, { route: { object, listeners } }: TranslatedRoute): void {
  const whole = routeTarget(object.kind, object.metadata)
  for (const { target } of listeners) work.write(enclosing, whole, target)
  for (const [index, { name }] of (object.spec.rules ?? []).entries()) {
    if (name === undefined) continue
    const section = routeTarget(object.kind, object.metadata, name)
    work.write(enclosing, ruleTarget(object.kind, object.metadata, index), section)
    work.write(enclosing, section, whole)
  }
}

/** Finds the rules over which another rule with the same key takes precedence. */
export function shadowStage({ rulesAt, shadowedAt }: Tables): StageDefinition<AnyRule> {
  return {
    name: 'shadowedAt',
    each: [rulesAt],
    writes: [shadowedAt],
    run([first, ...others], work, key) {
      if (others.length === 0) return
      const winner = describeRule(first!)
      for (const rule of others) work.write(shadowedAt, rule.key, { rule, key, winner })
    },
  }
}

/** Finds the patterns whose requests all go to a prefix match of another rule. */
export function coveredPatternStage({ rulesAt, patternsAt, shadowedAt }: Tables): StageDefinition<CoveredPattern> {
  return {
    name: 'coveredPatterns',
    each: [patternsAt],
    writes: [shadowedAt],
    run(patterns, work, coveringKey) {
      const covering = work.read(rulesAt, coveringKey)
      for (const { rule, key } of patterns) {
        const winner = covering.find((other) => other.key !== rule.key)
        if (winner === undefined) continue
        work.write(shadowedAt, rule.key, { rule, key, winner: describeRule(winner), isCovered: true })
      }
    },
  }
}

/** Reports rules that never apply. */
export function shadowedStage(tables: Tables): StageDefinition<Shadowed> {
  const { shadowedAt, findings } = tables
  return {
    name: 'shadowed',
    each: [shadowedAt],
    writes: [findings],
    run: (at, work) => reportShadowed(at, reportTo(tables, work)),
  }
}
