import type { ProxyReport } from '#admin/status-report.ts'
import { objectKey } from '#api/object.ts'
import { clock } from '#base/clock.ts'
import type { ServedProxy } from '#deliver/proxy-stream.ts'
import type { Binding } from '#plan/binding.ts'
import type { ProxyReports, Refusal, RemoteProxy, ReportedState } from '#plan/plan-link.ts'
import { socketKey } from '#plan/socket.ts'

/** A proxy that has lost its connection is still thought to serve for so long: it connects again at once, for instance when its stream is too old. */
const GRACE_MS = 10_000

/** Longer than the longest wait of a proxy between two attempts to connect. */
const RETURN_MS = 20_000

export interface ServedProxiesOptions {
  readonly reports: Pick<ProxyReports, 'reported' | 'observed'>
  /** The newest version of the plan. */
  readonly version: () => number
  /** Called for what a proxy of this replica did not refuse before. */
  readonly refused: (proxy: ServedProxy, refusal: Refusal) => void
}

/** The proxies of one Gateway, counted. */
export interface ProxyCounts {
  readonly gateway: string
  /** Of proxies that run the newest version of their plan, an older one, and none. */
  readonly current: number
  readonly behind: number
  readonly waiting: number
  /** Items and sockets that proxies cannot use. */
  readonly refusals: number
}

interface Known {
  /** Undefined: those that an earlier controller saw. */
  readonly proxy: ServedProxy | undefined
  readonly isConnected: boolean
  readonly state: ReportedState
  readonly told: ReadonlySet<string>
  /** While it runs, what was bound before the connection was lost counts. */
  readonly grace?: { cancel(): void }
}

/** What proxies say about their plans, on its way up to the statuses. */
export class ServedProxies {
  readonly #options: ServedProxiesOptions
  /** By name. */
  readonly #known = new Map<string, Known>()

  constructor(options: ServedProxiesOptions) {
    this.#options = options
  }

  /**
   * The proxies of a Gateway that was programmed when this controller started connect again soon. Until then its status stays as it is.
   * @param gateway its key
   */
  expect(gateway: string, ports: readonly number[]): void {
    const bound = ports.map((port) => [socketKey({ address: gateway, port }), { state: 'bound' }] as const)
    const state = { version: this.#options.version(), bindings: new Map(bound), problems: [], refusals: [] }
    this.#keep({ gateway, name: gateway }, { proxy: undefined, state }, RETURN_MS)
  }

  /** A proxy has connected, acknowledged, refused or reported something. */
  changed(proxy: ServedProxy): void {
    const { identity: name, gateway, inForce } = proxy
    const before = this.#known.get(name)
    // A proxy that has connected again says anew what is in force there.
    const kept = inForce === 0 && before?.grace !== undefined ? before : undefined
    if (kept === undefined) before?.grace?.cancel()
    const state: ReportedState = {
      version: kept?.state.version ?? inForce,
      bindings: kept?.state.bindings ?? bindingsOf(proxy),
      problems: proxy.report?.problems ?? [],
      refusals: unusable(proxy),
    }
    const told = this.#tell(proxy, before?.told)
    this.#known.set(name, { proxy, isConnected: true, state, told, ...(kept?.grace && { grace: kept.grace }) })
    this.#options.reports.reported({ gateway, name }, state)
    for (const fact of inForce === 0 ? [] : proxy.report!.facts) this.#options.reports.observed(inForce, fact)
  }

  /** Its connection has ended. What it refused is forgotten at once. */
  left(proxy: ServedProxy): void {
    const { identity: name, gateway } = proxy
    const known = this.#known.get(name)
    if (known?.proxy !== proxy) return
    const bound = [...known.state.bindings].filter(([, { state }]) => state === 'bound')
    const state = { ...known.state, bindings: new Map(bound), problems: [], refusals: [] }
    this.#keep({ gateway, name }, { proxy, state }, GRACE_MS)
  }

  close(): void {
    for (const { grace } of this.#known.values()) grace?.cancel()
    this.#known.clear()
  }

  /** Those that are connected, to this replica or to one that passes on their reports, for operators. */
  list(): readonly ProxyReport[] {
    return this.#connected().map((proxy) => ({
      gateway: proxy.gateway.slice('Gateway/'.length),
      proxy: proxy.identity,
      address: proxy.address,
      ...(proxy.report?.version !== undefined && { version: proxy.report.version }),
      isCurrent: proxy.inForce === this.#options.version(),
      refusals: refusalsOf(proxy).map(({ key, message }) => ({ item: key, message })),
    }))
  }

  /** Names of connected proxies that do not trust the authorities with this digest. */
  distrusting(digest: string): readonly string[] {
    return this.#connected().flatMap(({ identity, report }) => (report?.trusts === digest ? [] : identity))
  }

  #connected(): readonly ServedProxy[] {
    return [...this.#known.values()].flatMap(({ proxy, isConnected }) => (isConnected ? proxy! : []))
  }

  /** Those that are connected to this replica, so that the counts of all replicas add up. @returns for each Gateway with some */
  counts(): readonly ProxyCounts[] {
    const own = this.#connected().filter(({ isForwarded }) => !isForwarded)
    const byGateway = Map.groupBy(own, ({ gateway }) => gateway)
    return [...byGateway].map(([gateway, proxies]) => {
      const waiting = proxies.filter(({ report }) => report?.inForce === undefined).length
      const current = proxies.filter(({ inForce }) => inForce === this.#options.version()).length
      const refusals = proxies.reduce((sum, proxy) => sum + refusalsOf(proxy).length, 0)
      return { gateway, current, behind: proxies.length - current - waiting, waiting, refusals }
    })
  }

  /** Reports a state, which counts for a while. */
  #keep(proxy: RemoteProxy, known: Pick<Known, 'proxy' | 'state'>, ms: number): void {
    const { name } = proxy
    this.#known.get(name)?.grace?.cancel()
    const grace = clock.after(ms, () => {
      const last = this.#known.get(name)
      this.#known.delete(name)
      if (last?.isConnected === true) this.changed(last.proxy!)
      else this.#options.reports.reported(proxy, undefined)
    })
    this.#known.set(name, { ...known, isConnected: false, told: new Set(), grace })
    this.#options.reports.reported(proxy, known.state)
  }

  #tell(proxy: ServedProxy, before: ReadonlySet<string> = new Set()): ReadonlySet<string> {
    const told = new Set<string>()
    for (const refusal of refusalsOf(proxy)) {
      const text = `${refusal.key} ${refusal.message}`
      if (!before.has(text) && !proxy.isForwarded) this.#options.refused(proxy, refusal)
      told.add(text)
    }
    return told
  }
}

/** In a cluster the address of a socket is its Gateway: where a proxy has it is its own affair. */
function bindingsOf({ gateway, report }: ServedProxy): ReadonlyMap<string, Binding> {
  const bindings = [...(report?.bindings ?? [])]
  return new Map(bindings.map(([socket, binding]) => [socketKey({ address: gateway, port: portOf(socket) }), binding]))
}

function portOf(socket: string): number {
  return Number(socket.slice(socket.lastIndexOf(':') + 1))
}

/** Items that it cannot read, and a change that it could not take. */
function unusable({ report, refusals }: ServedProxy): readonly Refusal[] {
  return [...(report?.unreadable ?? []), ...refusals.filter(({ key }) => key === '')]
}

/** Everything that it cannot use, by key of the object, item or socket. */
function refusalsOf(proxy: ServedProxy): readonly Refusal[] {
  const { problems = [], bindings = new Map<string, Binding>() } = proxy.report ?? {}
  const errors = problems.filter(({ severity }) => severity === 'error')
  return [
    ...unusable(proxy),
    ...errors.map(({ origin: { kind, namespace, name }, path, message }) => ({
      key: objectKey(kind, namespace, name),
      message: path === '' ? message : `${path}: ${message}`,
    })),
    ...[...bindings].flatMap(([key, binding]) =>
      binding.state === 'failed' ? [{ key, message: binding.message }] : [],
    ),
  ]
}
