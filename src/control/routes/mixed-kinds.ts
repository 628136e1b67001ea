import { type ApiObject, keyOf } from '#api/object.ts'
import { byAge } from '../context/inventory.ts'
import type { ListenerMatch, MatchedRoute } from './match-route.ts'

/** An HTTPRoute or GRPCRoute that asks for hostnames of a listener. */
export interface Contender {
  readonly route: Pick<ApiObject, 'kind' | 'metadata'>
  /** Normalized; empty text: any host. */
  readonly hostnames: readonly string[]
}

/** A listener that a route is not attached to, because a route of another kind takes precedence there. */
export interface Displacement {
  /** Key of the listener. */
  readonly listener: string
  readonly message: string
}

export function contenderOf({ object: { kind, metadata } }: MatchedRoute, { hostnames }: ListenerMatch): Contender {
  return { route: { kind, metadata }, hostnames: hostnames.length === 0 ? [''] : hostnames }
}

/**
 * Of an HTTPRoute and a GRPCRoute that share a hostname at one listener, only one is attached: the older one, then the first by namespace
 * and name (Gateway API, GRPCRouteSpec.hostnames).
 * @param contenders all HTTPRoutes and GRPCRoutes of one listener
 * @returns why routes are not attached, by key of the route
 */
export function findDisplaced(contenders: readonly Contender[]): ReadonlyMap<string, string> {
  const displaced = new Map<string, string>()
  const attached = new Map<string, HostIndex>()
  for (const contender of contenders.toSorted((a, b) => byAge(a.route, b.route))) {
    const { kind } = contender.route
    const rival = [...attached].flatMap(([other, index]) => (other === kind ? [] : (index.rivalOf(contender) ?? [])))[0]
    if (rival !== undefined) {
      displaced.set(keyOf(contender.route), describe(contender, rival))
      continue
    }
    const own = attached.get(kind) ?? new HostIndex()
    own.add(contender)
    attached.set(kind, own)
  }
  return displaced
}

function describe({ route }: Contender, { route: rival, hostname }: Rival): string {
  const { namespace, name } = rival.metadata
  const what = hostname === '' ? 'some hostnames are' : `hostname ${hostname} is`
  return `${what} already used by ${rival.kind} ${namespace}/${name}, which takes precedence; a listener serves either HTTPRoutes or GRPCRoutes for one hostname, so give this ${route.kind} another hostname or listener`
}

interface Rival {
  readonly route: Contender['route']
  /** The hostname of the contender that they share. */
  readonly hostname: string
}

/** The hostnames of attached routes of one kind. A look-up costs one step for each label of the hostname. */
class HostIndex {
  readonly #names = new Map<string, Contender['route']>()
  /** By domain: a route for a hostname, or for a wildcard, inside of it. */
  readonly #within = new Map<string, Contender['route']>()

  add({ route, hostnames }: Contender): void {
    for (const hostname of hostnames) {
      if (!this.#names.has(hostname)) this.#names.set(hostname, route)
      for (const domain of domainsOf(hostname)) if (!this.#within.has(domain)) this.#within.set(domain, route)
    }
  }

  rivalOf({ hostnames }: Contender): Rival | undefined {
    for (const hostname of hostnames) {
      const route = this.#sharing(hostname)
      if (route !== undefined) return { route, hostname }
    }
    return undefined
  }

  #sharing(hostname: string): Contender['route'] | undefined {
    const covering = [hostname, '', ...domainsOf(hostname).map((domain) => `*.${domain}`)]
    for (const name of covering) {
      const route = this.#names.get(name)
      if (route !== undefined) return route
    }
    if (hostname === '') return this.#names.values().next().value
    return hostname.startsWith('*.') ? this.#within.get(hostname.slice(2)) : undefined
  }
}

/** The domains around a hostname: `b.c` and `c` for `a.b.c` and for `*.a.b.c`, with `a.b.c` too for the latter. */
function domainsOf(hostname: string): readonly string[] {
  const labels = hostname === '' ? [] : hostname.split('.')
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'))
}
