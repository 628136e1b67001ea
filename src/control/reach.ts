import { gatewayTarget, listenerSetTarget, routeTarget } from '#plan/target.ts'
import { append } from './append.ts'
import type { PlacedGateways } from './gateways/place-gateways.ts'
import type { AttachedRoute } from './routes/attach-route.ts'

/** A place (a rule, a policy's target, a backend) from which requests go to a backend. */
export interface Use {
  /** Key of the place, see `plan/target.ts`. */
  readonly from: string
  /** Key of a `BackendItem`. */
  readonly to: string
}

/** How the places that policies attach to lie in each other. Answers are worked out when asked for, and kept. */
export interface Reach {
  /** The Gateways, by target and sorted, whose traffic comes to a place; also as a service that some policy calls. */
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

/** The places directly around a place. */
type Outer = (place: string) => readonly string[]

export function measureReach(scope: Scope): Reach {
  const outer = placesAround(scope)
  const callers = usersOf(scope.called)
  const outerOrCalling: Outer = (place) => [...outer(place), ...(callers.get(place) ?? [])]
  const gateways = scope.gateways.gateways.map(({ object }) => gatewayTarget(object.metadata)).sort()
  return {
    gatewaysOf: remembered((target) => {
      const found = closure(outerOrCalling, target)
      return gateways.filter((gateway) => found.has(gateway))
    }),
    around: remembered((target) => {
      const found = closure(outer, target)
      found.delete(target)
      return found
    }),
  }
}

function remembered<T>(answer: (target: string) => T): (target: string) => T {
  const known = new Map<string, T>()
  return (target) => {
    const value = known.get(target) ?? answer(target)
    known.set(target, value)
    return value
  }
}

function placesAround({ gateways, routes, routed, sections }: Scope): Outer {
  const owners = ownersOf(gateways)
  const users = usersOf(routed)
  const byTarget = new Map(routes.map((route) => [routeTarget(route.object.kind, route.object.metadata), route]))
  return (place) => {
    const owner = owners.get(place)
    if (owner !== undefined) return [owner]
    const route = byTarget.get(place)
    if (route !== undefined) return route.listeners.map(({ target }) => target)
    return aroundRule(byTarget, place) ?? [...(users.get(place) ?? []), ...wholeOf(sections, place)]
  }
}

/** Listeners lie in their Gateway or ListenerSet, a ListenerSet in its Gateway. */
function ownersOf({ gateways, listenerSets }: PlacedGateways): ReadonlyMap<string, string> {
  const owners = new Map<string, string>()
  for (const { object, listeners } of gateways) {
    for (const { target } of listeners) owners.set(target, gatewayTarget(object.metadata))
  }
  for (const { object, gateway, listeners } of listenerSets) {
    const set = listenerSetTarget(object.metadata)
    owners.set(set, gatewayTarget(gateway.metadata))
    for (const { target } of listeners) owners.set(target, set)
  }
  return owners
}

/** `HTTPRoute/ns/name#0` lies in `HTTPRoute/ns/name/<rule name>`, if it has a name, and that in `HTTPRoute/ns/name`. */
function aroundRule(routes: ReadonlyMap<string, AttachedRoute>, place: string): readonly string[] | undefined {
  const mark = place.lastIndexOf('#')
  const target = place.slice(0, mark < 0 ? place.lastIndexOf('/') : mark)
  const route = routes.get(target)
  if (route === undefined) return undefined
  const name = mark < 0 ? undefined : route.object.spec.rules?.[Number(place.slice(mark + 1))]?.name
  return [name === undefined ? target : `${target}/${name}`]
}

/** A port lies in its Service, a provider or MCP target in its backend. */
function wholeOf(sections: ReadonlyMap<string, readonly string[]>, place: string): readonly string[] {
  const whole = place.slice(0, place.lastIndexOf('/'))
  const isPart = isServicePort(place) || sections.get(whole)?.includes(place.slice(whole.length + 1))
  return isPart ? [whole] : []
}

function isServicePort(place: string): boolean {
  return place.startsWith('Service/') && place.split('/').length === 4
}

/** Who sends to a backend; what is sent to a port is sent to its Service. */
function usersOf(uses: readonly Use[]): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>()
  for (const { from, to } of uses) {
    append(users, to, from)
    if (isServicePort(to)) append(users, to.slice(0, to.lastIndexOf('/')), from)
  }
  return users
}

/** Everything that can be got to from a place, itself included. */
function closure(outer: Outer, start: string): Set<string> {
  const found = new Set([start])
  for (const place of found) for (const next of outer(place)) found.add(next)
  return found
}
