import { gatewayTarget, listenerSetTarget, routeTarget, ruleTarget } from '#plan/target.ts'
import { append } from './append.ts'
import type { PlacedGateways } from './gateways/place-gateways.ts'
import type { AttachedRoute } from './routes/attach-routes.ts'

/** A place (a rule, a policy's target, a backend) from which requests go to a backend. */
export interface Use {
  /** Key of the place, see `plan/target.ts`. */
  readonly from: string
  /** Key of a `BackendItem`. */
  readonly to: string
}

/** How the places that policies attach to lie in each other. */
export interface Reach {
  /** The Gateways, by target, whose traffic comes to a place; also as a service that some policy calls. */
  gatewaysOf(target: string): readonly string[]
  /** All places around a place, itself not included: their policies apply to it too, with less strength. */
  around(target: string): ReadonlySet<string>
}

interface Scope {
  readonly gateways: PlacedGateways
  readonly routes: readonly AttachedRoute[]
  /** Backends to which rules send their requests. */
  readonly routed: readonly Use[]
  /** Backends that policies and other backends call. */
  readonly called: readonly Use[]
  /** Sections of backends, by key of the backend. */
  readonly sections: ReadonlyMap<string, readonly string[]>
}

export function measureReach(scope: Scope): Reach {
  const inside = placesInside(scope)
  const reached = spread(scope, inside)
  const known = new Map<string, ReadonlySet<string>>()
  return {
    gatewaysOf: (target) => reached.get(target) ?? [],
    around(target) {
      const places = known.get(target) ?? surroundings(inside, target)
      known.set(target, places)
      return places
    },
  }
}

/** Place to the places directly around it. */
function placesInside({ gateways, routes, routed, sections }: Scope): Map<string, Set<string>> {
  const outer = new Map<string, Set<string>>()
  const put = (place: string, around: string) => {
    const known = outer.get(place)
    if (known === undefined) outer.set(place, new Set([around]))
    else known.add(around)
  }
  for (const { object, gateway, listeners } of [...gateways.gateways.map(ownGateway), ...gateways.listenerSets]) {
    const owner = object.kind === 'Gateway' ? gatewayTarget(object.metadata) : listenerSetTarget(object.metadata)
    if (object !== gateway) put(owner, gatewayTarget(gateway.metadata))
    for (const { target } of listeners) put(target, owner)
  }
  for (const { object, listeners } of routes) {
    const route = routeTarget(object.kind, object.metadata)
    for (const { target } of listeners) put(route, target)
    object.spec.rules?.forEach(({ name }, index) => {
      const rule = ruleTarget(object.kind, object.metadata, index)
      const named = routeTarget(object.kind, object.metadata, name)
      if (name !== undefined) put(named, route)
      put(rule, named)
    })
  }
  for (const { from, to } of routed) {
    put(to, from)
    const whole = wholeOf(to)
    if (whole === to) continue
    put(to, whole)
    put(whole, from)
  }
  for (const [backend, names] of sections) for (const name of names) put(`${backend}/${name}`, backend)
  return outer
}

function ownGateway<T extends { readonly object: unknown }>(placed: T): T & { readonly gateway: T['object'] } {
  return { ...placed, gateway: placed.object }
}

/** `Service/ns/name` of `Service/ns/name/80`; other keys stay. */
function wholeOf(key: string): string {
  return key.startsWith('Service/') ? key.slice(0, key.lastIndexOf('/')) : key
}

/** Follows every Gateway inwards and along calls; each place gets the Gateways that came by. */
function spread({ gateways, called }: Scope, outer: ReadonlyMap<string, ReadonlySet<string>>): Map<string, string[]> {
  const inner = new Map<string, string[]>()
  for (const [place, arounds] of outer) for (const around of arounds) append(inner, around, place)
  for (const { from, to } of called) {
    append(inner, from, to)
    if (wholeOf(to) !== to) append(inner, from, wholeOf(to))
  }

  const reached = new Map<string, string[]>()
  for (const { object } of gateways.gateways) {
    const gateway = gatewayTarget(object.metadata)
    for (const place of closure(inner, gateway)) append(reached, place, gateway)
  }
  return reached
}

function surroundings(outer: ReadonlyMap<string, Iterable<string>>, target: string): ReadonlySet<string> {
  const found = closure(outer, target)
  found.delete(target)
  return found
}

/** Everything that can be got to from a place, itself included. */
function closure(edges: ReadonlyMap<string, Iterable<string>>, start: string): Set<string> {
  const found = new Set([start])
  for (const place of found) for (const next of edges.get(place) ?? []) found.add(next)
  return found
}
