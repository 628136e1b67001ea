import type { Workloads } from '#exchange/workload.ts'
import type { PlanChange } from '#plan/delta.ts'
import { socketKey } from '#plan/socket.ts'
import { buildCalledBackend } from '../backend/called-backends.ts'
import type { LiveBackend } from '../backend/live-backend.ts'
import { RecordedLookups } from '../lookups/lookups.ts'
import { PlanIndex } from '../lookups/plan-index.ts'
import type { SharedState } from '../merge/compile-context.ts'
import { buildRelayListener } from '../route/build-relay-listener.ts'
import { buildRequestListener } from '../route/build-request-listener.ts'
import { HostTable } from '../route/host-table.ts'
import {
  isRelayListener,
  type LiveListener,
  type LiveRequestListener,
  type LiveSocket,
} from '../route/live-listener.ts'

/**
 * The plan, ready to serve: sockets, listeners, route tables. An update builds new tables only for listeners whose routes changed, and
 * keeps everything whose item did not change. Merged policies are rebuilt on first use after one of their inputs changed.
 */
export class LivePlan {
  /** Looks up Pods in the current plan. */
  readonly workloads: Workloads = { at: (address) => this.#index.workloadAt(address) }
  readonly #state: SharedState
  #index = PlanIndex.EMPTY
  #sockets: ReadonlyMap<string, LiveSocket> = new Map()
  #listeners: ReadonlyMap<string, LiveListener> = new Map()

  constructor(state: SharedState) {
    this.#state = state
  }

  get index(): PlanIndex {
    return this.#index
  }

  /** The key is `address:port`. */
  get sockets(): ReadonlyMap<string, LiveSocket> {
    return this.#sockets
  }

  /** A backend for calls of the gateway itself, built anew; undefined if there is none with that key. For `explain`. */
  calledBackend(key: string): LiveBackend | undefined {
    return buildCalledBackend(key, new RecordedLookups(this.#index), this.#state)
  }

  update(change: PlanChange): void {
    const index = this.#index.after(change)
    this.#listeners = this.#buildListeners(index)
    this.#sockets = groupBySocket([...this.#listeners.values()])
    this.#index = index
  }

  #buildListeners(index: PlanIndex): ReadonlyMap<string, LiveListener> {
    const listeners = new Map<string, LiveListener>()
    for (const item of index.listeners) {
      const { key } = item
      const before = this.#listeners.get(key)
      const listener = isRelayListener(item)
        ? buildRelayListener(item, index.relayRoutesAt(key), before, this.#state)
        : buildRequestListener(item, index.routesAt(key), before, this.#state)
      listeners.set(key, listener)
    }
    return listeners
  }
}

/** Listeners of several Gateways may share a socket; the hostname selects one (decision A-40). */
function groupBySocket(listeners: readonly LiveListener[]): Map<string, LiveSocket> {
  const sockets = new Map<string, LiveSocket & { listeners: LiveListener[] }>()
  for (const listener of listeners) {
    const { address, port, hostname } = listener.item
    const key = socketKey(listener.item)
    let socket = sockets.get(key)
    if (socket === undefined) {
      const hosts = new HostTable<LiveRequestListener>()
      socket = { address, port, hosts, serverNames: new HostTable<LiveListener>(), listeners: [] }
      sockets.set(key, socket)
    }
    socket.serverNames.at(hostname, () => listener)
    if (listener.carries === 'requests') socket.hosts.at(hostname, () => listener)
    socket.listeners.push(listener)
  }
  return sockets
}
