import type { Workloads } from '#exchange/workload.ts'
import type { ListenerItem, PlanItem, RouteItem } from '#plan/item.ts'
import { buildBackendPlace } from './build-backend.ts'
import { buildChainFor } from './build-chain.ts'
import { PlanCompileContext, type SharedState } from './compile-context.ts'
import { buildFrontendSettings } from './frontend-settings.ts'
import type { Lookups } from './lookups.ts'
import { Memo } from './memo.ts'
import { POST_ROUTING, PRE_ROUTING } from './order.ts'
import {
  type ListenerPlace,
  listenerNames,
  listenerTargets,
  type RulePlace,
  ruleNames,
  ruleTargets,
  type SocketPlace,
} from './places.ts'
import { PlanIndex } from './plan-index.ts'
import { HostTable } from './route/host-table.ts'
import { RouteTable } from './route/route-table.ts'

/** Problems were reported when the plan was checked; at run time nobody listens. */
const ignore = (): void => {}

/**
 * The plan, ready to serve: sockets, listeners, route tables. An update makes new tables only for listeners whose routes changed and
 * keeps every place whose item did not; merged policies are rebuilt on first use when something they were made from changed.
 */
export class LivePlan {
  readonly #state: SharedState
  #index = new PlanIndex(new Map())
  #sockets: ReadonlyMap<string, SocketPlace> = new Map()
  #listeners = new Map<string, ListenerPlace>()

  constructor(state: SharedState) {
    this.#state = state
  }

  /** The pods of whatever plan is in force. */
  readonly workloads: Workloads = { at: (address) => this.#index.workloadAt(address) }

  get index(): PlanIndex {
    return this.#index
  }

  /** By `address:port`. */
  get sockets(): ReadonlyMap<string, SocketPlace> {
    return this.#sockets
  }

  update(items: ReadonlyMap<string, PlanItem>): void {
    const index = new PlanIndex(items, this.#index)
    const routes = routesByListener(index.routes)
    const listeners = new Map<string, ListenerPlace>()
    for (const item of index.listeners) {
      listeners.set(item.key, this.#listenerPlace(item, routes.get(item.key) ?? []))
    }
    this.#listeners = listeners
    this.#sockets = groupBySocket([...listeners.values()])
    this.#index = index
  }

  #context(lookups: Lookups): PlanCompileContext {
    return new PlanCompileContext(lookups, this.#state, ignore)
  }

  #listenerPlace(item: ListenerItem, attached: readonly Attached[]): ListenerPlace {
    const old = this.#listeners.get(item.key)
    if (old?.item === item && sameRoutes(old.attached, attached)) return old
    const known = new Map((old?.item === item ? old.attached : []).map((entry) => [entry.route, entry.rule]))
    const targets = listenerTargets(item)
    const routes = new RouteTable<RulePlace>()
    const place: ListenerPlace = {
      item,
      names: listenerNames(item),
      targets,
      preRouting: new Memo((lookups) =>
        buildChainFor(
          { stage: 'pre-routing', section: 'traffic', phase: 'PreRouting', order: PRE_ROUTING, targets },
          lookups,
          this.#context(lookups),
        ),
      ),
      frontend: new Memo((lookups) => buildFrontendSettings(targets, lookups, this.#context(lookups))),
      routes,
      attached: attached.map(({ route, hostnames }) => {
        // A rule that did not change keeps its place, and with it everything memoised there.
        const rule = known.get(route) ?? this.#rulePlace(route, item, targets)
        routes.add(route, hostnames, rule)
        return { route, rule, hostnames }
      }),
    }
    routes.seal()
    return place
  }

  #rulePlace(item: RouteItem, listener: ListenerItem, listenerTargets: readonly string[]): RulePlace {
    const state = this.#state
    const names = ruleNames(listenerNames(listener), item)
    const targets = [...listenerTargets, ...ruleTargets(item)]
    return {
      item,
      names,
      targets,
      postRouting: new Memo((lookups) =>
        buildChainFor(
          { stage: 'post-routing', section: 'traffic', phase: 'PostRouting', order: POST_ROUTING, targets },
          lookups,
          this.#context(lookups),
        ),
      ),
      backends: item.backends.map((reference) => ({
        reference,
        place: new Memo((lookups) =>
          buildBackendPlace({ reference, names, targets }, { lookups, context: this.#context(lookups), state }),
        ),
      })),
      totalWeight: item.backends.reduce((sum, { weight }) => sum + weight, 0),
    }
  }
}

interface Attached {
  readonly route: RouteItem
  readonly hostnames: readonly string[]
}

function routesByListener(routes: readonly RouteItem[]): Map<string, Attached[]> {
  const byListener = new Map<string, Attached[]>()
  for (const route of routes) {
    for (const { listener, hostnames } of route.attachments) {
      const list = byListener.get(listener)
      if (list === undefined) byListener.set(listener, [{ route, hostnames }])
      else list.push({ route, hostnames })
    }
  }
  return byListener
}

function sameRoutes(old: readonly Attached[], attached: readonly Attached[]): boolean {
  return old.length === attached.length && old.every(({ route }, i) => route === attached[i]!.route)
}

/** Listeners of several Gateways may share a socket by hostname (decision A-40). */
function groupBySocket(places: readonly ListenerPlace[]): Map<string, SocketPlace> {
  const sockets = new Map<string, SocketPlace & { listeners: ListenerPlace[] }>()
  for (const place of places) {
    const { address, port, hostname } = place.item
    const key = `${address}:${port}`
    let socket = sockets.get(key)
    if (socket === undefined) {
      socket = { address, port, hosts: new HostTable<ListenerPlace>(), listeners: [] }
      sockets.set(key, socket)
    }
    socket.hosts.at(hostname, () => place)
    socket.listeners.push(place)
  }
  return sockets
}
