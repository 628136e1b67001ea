import { keyOf } from '#api/object.ts'
import { destinationOf } from '#api/proxy-backend.ts'
import type { Problem } from '../finding-code.ts'
import type { PlacedGateways } from '../gateways/place-gateways.ts'
import type { Inventory } from '../inventory.ts'
import type { Scope } from '../scope.ts'
import { attachRoute, type RouteObject } from './attach-route.ts'
import { type TranslatedRoute, translateRoute } from './translate-route.ts'

/**
 * Results of earlier translations, by route. They hold as long as the route and all objects that routes look at are the same
 * JavaScript objects, so that one edit among ten thousand routes translates one route.
 */
export interface RouteMemo {
  surroundings: readonly unknown[]
  known: WeakMap<RouteObject, Known>
}

interface Known {
  /** Undefined: none of its parents is ours. */
  readonly route: TranslatedRoute | undefined
  readonly problems: readonly Problem[]
}

export function createRouteMemo(): RouteMemo {
  return { surroundings: [], known: new WeakMap() }
}

const ROUTE_KINDS = ['HTTPRoute', 'GRPCRoute', 'TCPRoute', 'TLSRoute'] as const

/** Attaches and translates all routes; those of other controllers are left out. */
export function translateRoutes(scope: Scope, gateways: PlacedGateways, memo: RouteMemo): readonly TranslatedRoute[] {
  renew(memo, surroundingsOf(scope.inventory))
  return ROUTE_KINDS.flatMap((kind) => scope.inventory.all(kind)).flatMap((object: RouteObject) => {
    const known = memo.known.get(object) ?? translateOne(scope, gateways, object)
    memo.known.set(object, known)
    known.problems.forEach(scope.reportOn(object))
    return known.route ?? []
  })
}

function translateOne(scope: Scope, gateways: PlacedGateways, object: RouteObject): Known {
  const problems: Problem[] = []
  const report = (problem: Problem) => void problems.push(problem)
  const attached = attachRoute({ ...scope, gateways }, object, report)
  return { route: attached === undefined ? undefined : translateRoute(scope, attached, report), problems }
}

function renew(memo: RouteMemo, surroundings: readonly unknown[]): void {
  const { surroundings: before } = memo
  if (before.length === surroundings.length && before.every((item, index) => item === surroundings[index])) return
  memo.surroundings = surroundings
  memo.known = new WeakMap()
}

/** Everything else that the translation of a route depends on; of ProxyBackends, only which there are and of which type. */
function surroundingsOf(inventory: Inventory): readonly unknown[] {
  return [
    ...inventory.all('GatewayClass'),
    ...inventory.all('Gateway'),
    ...inventory.all('ListenerSet'),
    ...inventory.all('ReferenceGrant'),
    ...inventory.all('Namespace'),
    ...inventory.all('Service'),
    ...inventory.all('ProxyBackend').map((object) => `${keyOf(object)} ${destinationOf(object)}`),
  ]
}
