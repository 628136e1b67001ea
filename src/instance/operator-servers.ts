import { startAdminServer } from '#admin/admin-server.ts'
import { startMetricsServer } from '#admin/metrics-server.ts'
import { startReadinessServer } from '#admin/readiness-server.ts'
import type { RunningServer } from '#admin/small-server.ts'
import type { StatusReport } from '#admin/status-report.ts'
import type { SecretHider } from '#base/known-secrets.ts'
import type { OperatorSocket } from '#net/connect/own-machine.ts'
import { loadAdminToken } from './admin-token.ts'
import type { DataPlane } from './data-plane.ts'
import type { InstanceEvents } from './events.ts'
import { operatorSockets } from './operator-sockets.ts'
import type { InstanceOptions } from './options.ts'
import { VERSION } from './version.ts'

type Addresses = Pick<InstanceOptions, 'admin' | 'metrics' | 'readiness' | 'api' | 'state'>

export interface OperatorParts {
  readonly data: DataPlane
  readonly events: Pick<InstanceEvents, 'logLevels'>
  readonly secrets: SecretHider
  readonly whyNotReady: () => readonly string[]
  readonly status: () => StatusReport
  /** A client of the admin port requests a shutdown. */
  readonly quit: () => void
  readonly reportBug: (error: unknown) => void
}

/** The servers for operators: readiness, metrics and admin. */
export class OperatorServers {
  readonly #addresses: Addresses
  #readiness: RunningServer | undefined
  #metrics: RunningServer | undefined
  #admin: RunningServer | undefined

  constructor(addresses: Addresses) {
    this.#addresses = addresses
  }

  /** @throws PortInUse, NotLoopback */
  async start({ data, events, secrets, whyNotReady, status, quit, reportBug }: OperatorParts): Promise<void> {
    const { admin, metrics, readiness, state } = this.#addresses
    const { workers } = data
    this.#readiness = await startReadinessServer({ ...readiness, whyNotReady, reportBug })
    this.#metrics = await startMetricsServer({
      ...metrics,
      metricsText: (format) => data.metricsText(format),
      reportBug,
    })
    this.#admin = await startAdminServer({
      ...admin,
      token: loadAdminToken(state),
      version: VERSION,
      status,
      traffic: () => data.measured.report(),
      dump: () => ({ version: data.publisher.version, items: data.publisher.items.values() }),
      decisions: () => workers.records(),
      profiles: {
        workers: () => workers.members.map(({ name }) => name),
        record: (name, profile, durationMs) => workers.profile(name, { profile, durationMs }),
      },
      followDecisions: (reader) => data.feed.read(reader),
      sessions: () => workers.sessions(),
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

  async close(): Promise<void> {
    await Promise.all([this.#readiness, this.#metrics, this.#admin].map((server) => server?.close()))
  }
}
