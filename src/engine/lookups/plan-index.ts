import { byKey, compareText } from '#base/compare-text.ts'
import { PersistentMap } from '#base/persistent-map.ts'
import type { PlanChange } from '#plan/delta.ts'
import type {
  BackendItem,
  EndpointsItem,
  GatewayItem,
  ListenerItem,
  MeshDomains,
  PlanItem,
  PolicyItem,
  RelayRouteItem,
  RouteItem,
  SecretItem,
  WorkloadItem,
} from '#plan/item.ts'
import { byPrecedence as byRouteAge } from '#plan/route-order.ts'

/** A rule of a route at a listener, with the hostnames that apply there. */
export interface Attached<Item> {
  readonly route: Item
  readonly hostnames: readonly string[]
}

/** Lists of items, by the key that they share. */
type Groups<T> = PersistentMap<readonly T[]>

/** The empty group: one shared array, so that an empty group compares equal to the next empty group. */
const NONE: readonly never[] = Object.freeze([])

interface Contents {
  readonly items: PersistentMap<PlanItem>
  readonly gateways: readonly GatewayItem[]
  readonly listeners: readonly ListenerItem[]
  readonly routes: Groups<Attached<RouteItem>>
  readonly relayRoutes: Groups<Attached<RelayRouteItem>>
  readonly policies: Groups<PolicyItem>
  readonly secrets: Groups<SecretItem>
  readonly workloads: PersistentMap<WorkloadItem>
}

/**
 * The items of one plan version, indexed for the lookups of the engine. Unchanged groups are the same arrays in the next version: a
 * memoised merge stays valid while all its lookups return identical objects. The cost of the next version depends on the size of the
 * change, not of the plan.
 */
export class PlanIndex {
  static readonly EMPTY = new PlanIndex({
    items: PersistentMap.EMPTY,
    gateways: NONE,
    listeners: NONE,
    routes: PersistentMap.EMPTY,
    relayRoutes: PersistentMap.EMPTY,
    policies: PersistentMap.EMPTY,
    secrets: PersistentMap.EMPTY,
    workloads: PersistentMap.EMPTY,
  })

  readonly #contents: Contents

  private constructor(contents: Contents) {
    this.#contents = contents
  }

  /** The next version; this one does not change. */
  after({ set, removed }: PlanChange): PlanIndex {
    const { items } = this.#contents
    const changes = new Map<string, PlanItem | undefined>()
    for (const key of removed) changes.set(key, undefined)
    for (const item of set) changes.set(item.key, item)
    const regroup = new Regrouping()
    for (const [key, item] of changes) {
      const before = items.get(key)
      if (before !== undefined) regroup.remove(before)
      if (item !== undefined) regroup.add(item)
    }
    return new PlanIndex({ ...regroup.apply(this.#contents), items: items.with(changes) })
  }

  /** Ordered by key. */
  get listeners(): readonly ListenerItem[] {
    return this.#contents.listeners
  }

  get items(): PersistentMap<PlanItem> {
    return this.#contents.items
  }

  /**
   * The mesh that this process is a member of: that of the first Gateway with one. A proxy has one Gateway; with several, all of their connections to pods of
   * the mesh are tunnels.
   */
  get mesh(): MeshDomains | undefined {
    return this.#contents.gateways.find(({ mesh }) => mesh !== undefined)?.mesh
  }

  /** The route rules attached to a listener. */
  routesAt(listener: string): readonly Attached<RouteItem>[] {
    return this.#contents.routes.get(listener) ?? NONE
  }

  /** The relay rules attached to a listener, by precedence. */
  relayRoutesAt(listener: string): readonly Attached<RelayRouteItem>[] {
    return this.#contents.relayRoutes.get(listener) ?? NONE
  }

  /** Policies attached to a target, ordered by precedence within their level (decision A-23). */
  policiesAt(target: string): readonly PolicyItem[] {
    return this.#contents.policies.get(target) ?? NONE
  }

  /** Secrets of a namespace, ordered by name. */
  secretsIn(namespace: string): readonly SecretItem[] {
    return this.#contents.secrets.get(namespace) ?? NONE
  }

  /** The Pod with an address. */
  workloadAt(address: string): WorkloadItem | undefined {
    return this.#contents.workloads.get(address)
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

/** Members that groups lose and gain. */
class Regrouping {
  readonly #gateways = new GroupChange<GatewayItem>()
  readonly #listeners = new GroupChange<ListenerItem>()
  readonly #routes = new GroupChange<Attached<RouteItem>>()
  readonly #relayRoutes = new GroupChange<Attached<RelayRouteItem>>()
  readonly #policies = new GroupChange<PolicyItem>()
  readonly #secrets = new GroupChange<SecretItem>()
  readonly #workloads = new Map<string, WorkloadItem | undefined>()

  remove(item: PlanItem): void {
    if (item.kind === 'workload') {
      for (const address of item.addresses) if (!this.#workloads.has(address)) this.#workloads.set(address, undefined)
    } else if (item.kind === 'gateway') this.#gateways.remove('', item)
    else if (item.kind === 'listener') this.#listeners.remove('', item)
    else if (item.kind === 'policy') this.#policies.remove(item.target, item)
    else if (item.kind === 'secret') this.#secrets.remove(item.namespace, item)
    else if (item.kind === 'route') for (const { listener } of item.attachments) this.#routes.remove(listener, item)
    else if (item.kind === 'relay-route') {
      for (const { listener } of item.attachments) this.#relayRoutes.remove(listener, item)
    }
  }

  add(item: PlanItem): void {
    if (item.kind === 'workload') for (const address of item.addresses) this.#workloads.set(address, item)
    else if (item.kind === 'gateway') this.#gateways.add('', item)
    else if (item.kind === 'listener') this.#listeners.add('', item)
    else if (item.kind === 'policy') this.#policies.add(item.target, item)
    else if (item.kind === 'secret') this.#secrets.add(item.namespace, item)
    else if (item.kind === 'route') {
      for (const { listener, hostnames } of item.attachments) this.#routes.add(listener, { route: item, hostnames })
    } else if (item.kind === 'relay-route') {
      for (const { listener, hostnames } of item.attachments)
        this.#relayRoutes.add(listener, { route: item, hostnames })
    }
  }

  apply(contents: Contents): Omit<Contents, 'items'> {
    const relayOrder = (a: Attached<RelayRouteItem>, b: Attached<RelayRouteItem>) => byRouteAge(a.route, b.route)
    return {
      gateways: this.#gateways.changed('', contents.gateways, byKey),
      listeners: this.#listeners.changed('', contents.listeners, byKey),
      routes: contents.routes.with(this.#routes.all(contents.routes)),
      relayRoutes: contents.relayRoutes.with(this.#relayRoutes.all(contents.relayRoutes, relayOrder)),
      policies: contents.policies.with(this.#policies.all(contents.policies, byPrecedence)),
      secrets: contents.secrets.with(this.#secrets.all(contents.secrets, byKey)),
      workloads: contents.workloads.with(this.#workloads),
    }
  }
}

/** The change of all groups of one index; each group is copied once, however much of it changes. */
class GroupChange<T extends object> {
  readonly #removed = new Map<string, Set<PlanItem>>()
  readonly #added = new Map<string, T[]>()

  remove(group: string, item: PlanItem): void {
    const removed = this.#removed.get(group)
    if (removed === undefined) this.#removed.set(group, new Set([item]))
    else removed.add(item)
  }

  add(group: string, member: T): void {
    const added = this.#added.get(group)
    if (added === undefined) this.#added.set(group, [member])
    else added.push(member)
  }

  /** The groups that changed; undefined for one that is now empty. */
  all(before: Groups<T>, order?: (a: T, b: T) => number): ReadonlyMap<string, readonly T[] | undefined> {
    const groups = new Set([...this.#removed.keys(), ...this.#added.keys()])
    return new Map(
      [...groups].map((group) => {
        const members = this.changed(group, before.get(group) ?? NONE, order)
        return [group, members.length === 0 ? undefined : members]
      }),
    )
  }

  changed(group: string, before: readonly T[], order?: (a: T, b: T) => number): readonly T[] {
    const removed = this.#removed.get(group)
    const added = this.#added.get(group)
    if (removed === undefined && added === undefined) return before
    const kept = removed === undefined ? before : before.filter((member) => !removed.has(itemOf(member)))
    const members = added === undefined ? kept : [...kept, ...added]
    return order === undefined ? members : members.toSorted(order)
  }
}

function itemOf(member: object): PlanItem {
  return ('route' in member && !('kind' in member) ? member.route : member) as PlanItem
}

/** Older objects first (objects from files have no time and count as oldest), then namespace/name. */
export function byPrecedence(a: PolicyItem, b: PolicyItem): number {
  return (
    compareText(a.created, b.created) ||
    compareText(a.origin.namespace, b.origin.namespace) ||
    compareText(a.origin.name, b.origin.name) ||
    compareText(a.key, b.key)
  )
}
