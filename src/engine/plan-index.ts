import type {
  BackendItem,
  EndpointsItem,
  ListenerItem,
  PlanItem,
  PolicyItem,
  RelayRouteItem,
  RouteItem,
  WorkloadItem,
} from '#plan/item.ts'
import { byPrecedence as byRouteAge } from '#plan/route-order.ts'

/** Nothing attached there; one shared array, so that "still nothing" compares equal. */
const NONE: readonly PolicyItem[] = Object.freeze([])

/**
 * The items of one plan version, found by what the engine asks for. Groups that did not change between versions are the very
 * same arrays: a memoised merge is valid as long as everything that it looked up is still identical.
 */
export class PlanIndex {
  readonly items: ReadonlyMap<string, PlanItem>
  readonly listeners: readonly ListenerItem[]
  readonly routes: readonly RouteItem[]
  /** In order of precedence. */
  readonly relayRoutes: readonly RelayRouteItem[]
  readonly #groups: ReadonlyMap<string, readonly PolicyItem[]>
  readonly #secrets: ReadonlyMap<string, readonly PlanItem[]>
  readonly #workloads = new Map<string, WorkloadItem>()

  constructor(items: ReadonlyMap<string, PlanItem>, before?: PlanIndex) {
    this.items = items
    const listeners: ListenerItem[] = []
    const routes: RouteItem[] = []
    const relayRoutes: RelayRouteItem[] = []
    const groups = new Map<string, PolicyItem[]>()
    const secrets = new Map<string, PlanItem[]>()
    for (const item of items.values()) {
      if (item.kind === 'policy') push(groups, item.target, item)
      else if (item.kind === 'route') routes.push(item)
      else if (item.kind === 'relay-route') relayRoutes.push(item)
      else if (item.kind === 'listener') listeners.push(item)
      else if (item.kind === 'secret') push(secrets, item.namespace, item)
      else if (item.kind === 'workload') for (const address of item.addresses) this.#workloads.set(address, item)
    }
    for (const group of groups.values()) group.sort(byPrecedence)
    for (const group of secrets.values()) group.sort((a, b) => (a.key < b.key ? -1 : 1))
    this.listeners = listeners.sort((a, b) => (a.key < b.key ? -1 : 1))
    this.routes = routes
    this.relayRoutes = relayRoutes.sort(byRouteAge)
    this.#groups = keepIdentical(groups, (key) => before?.policiesAt(key))
    this.#secrets = keepIdentical(secrets, (key) => before?.secretsIn(key))
  }

  /** Policies attached to a target, the one that wins within the level first (decision A-23). */
  policiesAt(target: string): readonly PolicyItem[] {
    return this.#groups.get(target) ?? NONE
  }

  /** Secrets of a namespace, by name. */
  secretsIn(namespace: string): readonly PlanItem[] {
    return this.#secrets.get(namespace) ?? NONE
  }

  /** The pod that has an address. */
  workloadAt(address: string): WorkloadItem | undefined {
    return this.#workloads.get(address)
  }

  backend(key: string): BackendItem | undefined {
    const item = this.items.get(key)
    return item?.kind === 'backend' ? item : undefined
  }

  endpoints(key: string): EndpointsItem | undefined {
    const item = this.items.get(key)
    return item?.kind === 'endpoints' ? item : undefined
  }
}

/** Older objects first (files carry no time and count as oldest), then namespace/name. */
function byPrecedence(a: PolicyItem, b: PolicyItem): number {
  return (
    compare(a.created, b.created) ||
    compare(a.origin.namespace, b.origin.namespace) ||
    compare(a.origin.name, b.origin.name) ||
    compare(a.key, b.key)
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}

function keepIdentical<T>(
  groups: Map<string, readonly T[]>,
  old: (key: string) => readonly T[] | undefined,
): ReadonlyMap<string, readonly T[]> {
  for (const [key, group] of groups) {
    const previous = old(key)
    if (previous?.length === group.length && previous.every((item, i) => item === group[i])) groups.set(key, previous)
  }
  return groups
}
