import { objectKey } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import { isFindingCode } from '#base/findings.ts'
import type { Binding } from '#plan/binding.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { Refusal, RemoteProblem, RemoteProxy, ReportedState } from '#plan/plan-link.ts'
import { socketKey } from '#plan/socket.ts'
import type { ProxyProblem } from '../status/join-problems.ts'
import type { SocketReport } from '../status/socket-state.ts'
import type { Tables } from './tables.ts'

/** Writes rows at keys, and remembers where each proxy has some. */
class RowsOfProxies<Row> {
  readonly #table: { put(key: string, writer: string, rows: readonly Row[]): void }
  readonly #keys = new Map<string, ReadonlySet<string>>()

  constructor(table: { put(key: string, writer: string, rows: readonly Row[]): void }) {
    this.#table = table
  }

  /** Replaces all rows of a proxy. */
  replace(proxy: string, rows: ReadonlyMap<string, readonly Row[]>): void {
    for (const key of this.#keys.get(proxy) ?? []) if (!rows.has(key)) this.#table.put(key, proxy, [])
    for (const [key, each] of rows) this.#table.put(key, proxy, each)
    if (rows.size === 0) this.#keys.delete(proxy)
    else this.#keys.set(proxy, new Set(rows.keys()))
  }
}

/** The data plane of this process: it has no name, and serves all Gateways. */
const LOCAL = ''

/** What data planes report, as rows of tables. What they say of listeners that have changed since is left out. */
export class DataPlaneReports {
  readonly #tables: Tables
  readonly #bindings: RowsOfProxies<SocketReport>
  readonly #problems: RowsOfProxies<ProxyProblem>
  /** By listener, its socket; by socket, its listeners and the version of the plan in which one of them changed last. */
  readonly #socketOf = new Map<string, string>()
  readonly #sockets = new Map<string, { readonly listeners: Set<string>; changedAt: number }>()

  constructor(tables: Tables) {
    this.#tables = tables
    this.#bindings = new RowsOfProxies(tables.bindings)
    this.#problems = new RowsOfProxies(tables.proxyProblems)
  }

  /** A new version of the plan: what is known about its changed listeners holds no longer. */
  take({ version, set, removed }: PlanDelta): void {
    for (const key of removed) this.#move(key, undefined, version)
    for (const item of set) if (item.kind === 'listener') this.#move(item.key, socketKey(item), version)
  }

  bound(version: number, bindings: ReadonlyMap<string, Binding>, proxy = LOCAL): void {
    const rows = new Map<string, readonly SocketReport[]>()
    for (const [socket, binding] of bindings) {
      const known = this.#sockets.get(socket)
      if (known !== undefined && known.changedAt <= version) rows.set(socket, [{ ...binding, proxy }])
    }
    this.#bindings.replace(proxy, rows)
  }

  reported(proxy: RemoteProxy, state: ReportedState | undefined): void {
    const { version = 0, bindings = new Map(), problems = [], refusals = [] } = state ?? {}
    this.bound(version, bindings, proxy.name)
    const found = [...problems.map(findingOf), ...refusals.map((refusal) => this.#findingOf(refusal, proxy))]
    const { gateway, name } = proxy
    const rows = found.map((finding) => ({ ...finding, gateway, proxy: name }))
    const byObject = Map.groupBy(rows, ({ origin: { kind, namespace, name: object } }) =>
      objectKey(kind, namespace, object),
    )
    this.#problems.replace(name, byObject)
  }

  #move(listener: string, socket: string | undefined, version: number): void {
    const before = this.#socketOf.get(listener)
    if (before !== undefined) this.#leave(before, listener)
    this.#socketOf.delete(listener)
    for (const each of new Set([before, socket])) if (each !== undefined) this.#forget(each, version)
    if (socket === undefined) return
    this.#socketOf.set(listener, socket)
    const known = this.#sockets.get(socket) ?? { listeners: new Set(), changedAt: version }
    this.#sockets.set(socket, known)
    known.listeners.add(listener)
  }

  #leave(socket: string, listener: string): void {
    const known = this.#sockets.get(socket)!
    known.listeners.delete(listener)
    if (known.listeners.size === 0) this.#sockets.delete(socket)
  }

  #forget(socket: string, version: number): void {
    const known = this.#sockets.get(socket)
    if (known !== undefined) known.changedAt = version
    for (const { proxy } of this.#tables.bindings.rows(socket)) this.#tables.bindings.put(socket, proxy, [])
  }

  /** The object that an item is from; without one it is the Gateway. */
  #findingOf({ key, message }: Refusal, { gateway }: RemoteProxy): Finding {
    const [, namespace = '', name = ''] = gateway.split('/')
    const [item] = this.#tables.items.rows(key)
    const origin = item?.origin ?? { kind: 'Gateway', namespace, name }
    return { origin, path: '', code: 'proxy-refuses', severity: 'error', message }
  }
}

function findingOf({ origin, path, code, message, severity }: RemoteProblem): Finding {
  return { origin, path, code: isFindingCode(code) ? code : 'proxy-refuses', message, severity }
}
