import type { Workloads } from '#exchange/workload.ts'
import type { PlanChange } from '#plan/delta.ts'
import type { SharedState } from '../merge/compile-context.ts'
import { HostTable } from '../route/host-table.ts'
import { placeRelayListener } from '../route/place-relay-listener.ts'
import { placeRequestListener } from '../route/place-request-listener.ts'
import { isRelayListener, type ListenerPlace, type RequestListenerPlace, type SocketPlace } from '../route/places.ts'
import { PlanIndex } from './plan-index.ts'

/**
 * The plan, ready to serve: sockets, listeners, route tables. An update makes new tables only for listeners whose routes changed and
 * keeps every place whose item did not; merged policies are rebuilt on first use when something they were made from changed.
 */
export class LivePlan {
  /** The pods of whatever plan is in force. */
  readonly workloads: Workloads = { at: (address) => this.#index.workloadAt(address) }
  readonly #state: SharedState
  #index = PlanIndex.EMPTY
  #sockets: ReadonlyMap<string, SocketPlace> = new Map()
  #listeners: ReadonlyMap<string, ListenerPlace> = new Map()

  constructor(state: SharedState) {
    this.#state = state
  }

  get index(): PlanIndex {
    return this.#index
  }

  /** By `address:port`. */
  get sockets(): ReadonlyMap<string, SocketPlace> {
    return this.#sockets
  }

  update(change: PlanChange): void {
    const index = this.#index.after(change)
    this.#listeners = this.#placeListeners(index)
    this.#sockets = groupBySocket([...this.#listeners.values()])
    this.#index = index
  }

  #placeListeners(index: PlanIndex): ReadonlyMap<string, ListenerPlace> {
    const listeners = new Map<string, ListenerPlace>()
    for (const item of index.listeners) {
      const { key } = item
      const before = this.#listeners.get(key)
      const place = isRelayListener(item)
        ? placeRelayListener(item, index.relayRoutesAt(key), before, this.#state)
        : placeRequestListener(item, index.routesAt(key), before, this.#state)
      listeners.set(key, place)
    }
    return listeners
  }
}

/** Listeners of several Gateways may share a socket by hostname (decision A-40). */
function groupBySocket(places: readonly ListenerPlace[]): Map<string, SocketPlace> {
  const sockets = new Map<string, SocketPlace & { listeners: ListenerPlace[] }>()
  for (const place of places) {
    const { address, port, hostname } = place.item
    const key = `${address}:${port}`
    let socket = sockets.get(key)
    if (socket === undefined) {
      const hosts = new HostTable<RequestListenerPlace>()
      socket = { address, port, hosts, serverNames: new HostTable<ListenerPlace>(), listeners: [] }
      sockets.set(key, socket)
    }
    socket.serverNames.at(hostname, () => place)
    if (place.carries === 'requests') socket.hosts.at(hostname, () => place)
    socket.listeners.push(place)
  }
  return sockets
}
