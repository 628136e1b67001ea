import { closeSync } from 'node:fs'
import { type AdminServerOptions, type RequestReports, startAdminServer } from '#admin/admin-server.ts'
import { startMetricsServer } from '#admin/metrics-server.ts'
import { startReadinessServer } from '#admin/readiness-server.ts'
import type { RunningServer } from '#admin/small-server.ts'
import type { StatusReport } from '#admin/status-report.ts'
import { hostPort } from '#base/host-port.ts'
import type { SecretHider } from '#base/known-secrets.ts'
import type { OperatorServer, OperatorSocket } from '#net/connect/own-machine.ts'
import type { MetricsFormat } from '#observe/metrics/write-family.ts'
import type { ListeningSocket } from '#plan/socket.ts'
import { loadAdminToken } from './admin-token.ts'
import type { DataPlane } from './data-plane.ts'
import type { InstanceEvents } from './events.ts'
import { operatorSockets } from './operator-sockets.ts'
import type { InstanceOptions } from './options.ts'
import { VERSION } from './version.ts'

type Addresses = Pick<InstanceOptions, 'admin' | 'metrics' | 'readiness' | 'api' | 'state' | 'predecessor'>

export interface OperatorParts {
  readonly metricsText: (format: MetricsFormat) => string
  readonly dump: AdminServerOptions['dump']
  /** Of a data plane. */
  readonly requests?: RequestReports
  readonly events: Pick<InstanceEvents, 'logLevels'>
  readonly secrets: SecretHider
  readonly whyNotReady: () => readonly string[]
  readonly readinessNote?: () => string | undefined
  readonly status: () => StatusReport
  /** A client of the admin port requests a shutdown. */
  readonly quit: () => void
  readonly reportBug: (error: unknown) => void
}

/** What a data plane shows. */
export function partsOf(data: DataPlane): Pick<OperatorParts, 'metricsText' | 'dump' | 'requests'> {
  const { workers } = data
  return {
    metricsText: (format) => data.metricsText(format),
    dump: () => ({ version: data.publisher.version, items: data.publisher.items.values() }),
    requests: {
      traffic: () => data.measured.report(),
      decisions: () => workers.records(),
      profiles: {
        workers: () => workers.members.map(({ name }) => name),
        record: (name, profile, durationMs) => workers.profile(name, { profile, durationMs }),
      },
      followDecisions: (reader) => data.feed.read(reader),
      sessions: () => workers.sessions(),
    },
  }
}

const SERVERS: readonly OperatorServer[] = ['readiness', 'metrics', 'admin', 'api']

/** The servers for operators: readiness, metrics and admin. */
export class OperatorServers {
  readonly #addresses: Addresses
  #readiness: RunningServer | undefined
  #metrics: RunningServer | undefined
  #admin: RunningServer | undefined
  #closed: Promise<void> | undefined

  constructor(addresses: Addresses) {
    this.#addresses = addresses
  }

  /** @throws PortInUse, NotLoopback */
  async start(parts: OperatorParts): Promise<void> {
    const { metricsText, dump, requests, events, secrets, whyNotReady, readinessNote, status, quit, reportBug } = parts
    const { admin, metrics, readiness, state } = this.#addresses
    const of = (server: OperatorServer) => ({ inherited: this.inherited(server) })
    this.#readiness = await startReadinessServer({
      ...readiness,
      ...of('readiness'),
      whyNotReady,
      note: readinessNote,
      reportBug,
    })
    this.#metrics = await startMetricsServer({ ...metrics, ...of('metrics'), metricsText, reportBug })
    this.#admin = await startAdminServer({
      ...admin,
      ...of('admin'),
      token: loadAdminToken(state),
      version: VERSION,
      status,
      dump,
      requests,
      logLevels: () => events.logLevels,
      hide: (text) => secrets.hide(text),
      quit,
      reportBug,
    })
  }

  get ports(): { readonly metrics: number; readonly readiness: number } {
    return { metrics: this.#metrics!.port, readiness: this.#readiness!.port }
  }

  get adminUrl(): string {
    return this.#admin!.url
  }

  /** @param api the server of the API, if it is open */
  sockets(api?: { readonly port: number }): OperatorSocket[] {
    const [readiness, metrics, admin] = [this.#readiness, this.#metrics, this.#admin]
    return operatorSockets(this.#addresses, { readiness, metrics, admin, api })
  }

  /** The sockets of these servers, for a process that replaces this one. */
  listening(api?: { readonly descriptor: number }): ListeningSocket[] {
    const servers = { readiness: this.#readiness, metrics: this.#metrics, admin: this.#admin, api }
    return SERVERS.flatMap((server) => {
      const [key, open] = [this.#keyOf(server), servers[server]]
      return key === undefined || open === undefined ? [] : [{ socket: key, descriptor: open.descriptor }]
    })
  }

  /** The socket that the process that this one replaces had for a server at the same address. */
  inherited(server: OperatorServer): number | undefined {
    const key = this.#keyOf(server)
    return this.#addresses.predecessor?.operators.find(({ socket }) => socket === key)?.descriptor
  }

  /** Closes the inherited sockets that no server has. */
  closeInherited(): void {
    const keys = SERVERS.map((server) => this.#keyOf(server))
    for (const { socket, descriptor } of this.#addresses.predecessor?.operators ?? []) {
      if (!keys.includes(socket)) closeSync(descriptor)
    }
  }

  /** Undefined: there is no such server. */
  #keyOf(server: OperatorServer): string | undefined {
    const address = this.#addresses[server]
    return address && `${server} ${hostPort(address.host, address.port)}`
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAll()
    return this.#closed
  }

  async #closeAll(): Promise<void> {
    await Promise.all([this.#readiness, this.#metrics, this.#admin].map((server) => server?.close()))
  }
}
