import type { ConfigurationReport, StatusReport } from '#admin/status-report.ts'
import type { Finding } from '#base/finding.ts'
import { SecretSet } from '#base/secret-set.ts'
import { secretsOfItem } from '#control/secret-values.ts'
import type { ControllerAddress } from '#deliver/controller-access.ts'
import { PlanClient } from '#deliver/plan-client.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { PlanItem } from '#plan/item.ts'
import { limitHeapGrowth } from '#workers/release-memory.ts'
import { DataPlane } from './data-plane.ts'
import { describeStatus, type StatusStore } from './describe-status.ts'
import { type BugReports, bugReports, type InstanceEvents } from './events.ts'
import { OperatorServers, partsOf } from './operator-servers.ts'
import type { DataPlaneOptions, InstanceOptions } from './options.ts'
import { PlanFile, type PlanFileOptions } from './plan-file.ts'
import { type MeshSource, ProxyMesh } from './proxy-mesh.ts'
import type { ShutdownTimes } from './shutdown-times.ts'
import { VERSION } from './version.ts'
import { whyNotReady } from './why-not-ready.ts'

/** A proxy knows the plan, and not the objects that it was made of. */
const NO_OBJECTS: StatusStore = {
  list: () => [],
  statusOf: () => undefined,
  problems: () => [],
  stale: () => [],
  locate: () => undefined,
}

export interface ProxyInstanceOptions
  extends DataPlaneOptions,
    Pick<InstanceOptions, 'admin' | 'metrics' | 'readiness'> {
  /** Address of all listeners. */
  readonly bind: string
  readonly controller: ControllerAddress
  /** Name of the proxy in reports of the controller, such as that of its pod. */
  readonly identity: string
  /** UID of the Gateway, for which the plan is kept in the state folder; undefined: no plan is kept. */
  readonly keepsPlanOf?: string | undefined
  /** A kept plan that the controller confirmed last before this time is not used. */
  readonly keptPlanMaxAgeMs?: number | undefined
  /** Undefined: the proxy is in no service mesh. */
  readonly mesh?: MeshSource | undefined
}

/** A data plane that gets its plan from a controller, and the servers for operators. It has no objects. */
export class ProxyInstance {
  readonly #options: ProxyInstanceOptions
  readonly #events: InstanceEvents
  readonly #bugs: BugReports
  readonly #secrets = new SecretSet()
  readonly #data: DataPlane
  readonly #client: PlanClient
  readonly #servers: OperatorServers
  readonly #planFile: PlanFile | undefined
  readonly #mesh: ProxyMesh | undefined
  #draining = false
  #quit: () => void = () => {}

  private constructor(options: ProxyInstanceOptions, events: InstanceEvents) {
    this.#options = options
    this.#events = events
    this.#bugs = bugReports(events)
    events.secrets(this.#secrets)
    this.#servers = new OperatorServers(options)
    this.#planFile = this.#openPlanFile()
    this.#client = new PlanClient({
      ...options.controller,
      identity: options.identity,
      version: VERSION,
      target: { take: (delta) => this.#take(delta) },
      readKept: this.#planFile && (() => this.#planFile!.read()),
      log: (...line) => events.message('deliver', ...line),
      whyNotReadyChanged: () => this.#reportReadiness(),
      reportBug: this.#bugs.reportBug,
    })
    this.#data = new DataPlane(options, {
      ...this.#bugs,
      events,
      secrets: this.#secrets,
      reports: this.#client,
      operatorSockets: () => this.#servers.sockets(),
      problems: () => [],
      confirmedMs: () => this.#client.confirmedMs,
      samples: () => this.#mesh?.samples() ?? [],
      applied: (version) => this.#client.inForce(version),
      readinessMayChange: () => this.#reportReadiness(),
    })
    this.#mesh = options.mesh && this.#joinMesh(options.mesh)
  }

  /**
   * Starts the workers and the servers for operators, and begins to ask the controller. The proxy is ready once it runs a whole version of
   * its plan.
   * @throws PortInUse, NotLoopback
   */
  static async start(options: ProxyInstanceOptions, events: InstanceEvents): Promise<ProxyInstance> {
    const proxy = new ProxyInstance(options, events)
    try {
      await proxy.#startServers()
    } catch (error) {
      await proxy.close({ minMs: 0, maxMs: 0 })
      throw error
    }
    proxy.#data.keepLevels()
    proxy.#client.start()
    proxy.#mesh?.identity.start()
    proxy.#planFile?.start(proxy.#client, proxy.#data.publisher.items)
    proxy.#reportReadiness()
    return proxy
  }

  get ports(): OperatorServers['ports'] {
    return this.#servers.ports
  }

  get adminUrl(): string {
    return this.#servers.adminUrl
  }

  /** Why the proxy is not ready for traffic; empty: it is. */
  get whyNotReady(): readonly string[] {
    const missing = [this.#client.whyNotReady, this.#mesh?.identity.whyNotReady].filter((why) => why !== undefined)
    if (missing.length > 0 && !this.#draining) return missing
    return whyNotReady({
      draining: this.#draining,
      started: true,
      hasGateways: () => true,
      unknownProtection: [],
      listeners: undefined,
      fullWorkers: this.#data.workers.fullWorkers,
    })
  }

  /** How long a shutdown would wait if it began now. */
  get shutdownTimes(): ShutdownTimes {
    return this.#data.shutdownTimes
  }

  /** Called once when a client of the admin port requests a shutdown. */
  onQuit(quit: () => void): void {
    this.#quit = quit
  }

  /** Reopens the access log, and reads the prices again. */
  reload(): void {
    this.#options.prices?.reload()
    this.#data.workers.reopenLog()
  }

  /** Is not ready from now on, waits for requests in flight, stops everything. */
  async close(times = this.shutdownTimes): Promise<void> {
    this.#draining = true
    this.#planFile?.close()
    this.#client.close()
    this.#mesh?.identity.close()
    this.#options.prices?.close()
    this.#data.stopTaking()
    await this.#data.close(times)
    await this.#servers.close()
  }

  async #startServers(): Promise<void> {
    using _ = limitHeapGrowth()
    await this.#servers.start({
      ...partsOf(this.#data),
      events: this.#events,
      secrets: this.#secrets,
      whyNotReady: () => this.whyNotReady,
      readinessNote: () => this.#readinessNote(),
      status: () => this.#status(),
      quit: () => this.#quit(),
      reportBug: this.#bugs.reportBug,
    })
  }

  #openPlanFile(): PlanFile | undefined {
    const { keepsPlanOf: gatewayUid, state, sessionKeys, keptPlanMaxAgeMs: maxAgeMs } = this.#options
    if (gatewayUid === undefined || state === undefined) return undefined
    const report = (...line: Parameters<PlanFileOptions['report']>) => this.#events.message('deliver', ...line)
    return new PlanFile({ folder: state, keys: sessionKeys, gatewayUid, maxAgeMs, report })
  }

  #joinMesh(source: MeshSource): ProxyMesh {
    return new ProxyMesh({
      ...source,
      publish: (material) => this.#data.meshMaterialChanged(material),
      secrets: (values) => this.#secrets.set('mesh', values),
      whyNotReadyChanged: () => this.#reportReadiness(),
      log: (...line) => this.#events.message('mesh', ...line),
      reportBug: this.#bugs.reportBug,
    })
  }

  /** A proxy that serves an unconfirmed plan, or cannot take part in its mesh any more, is ready, and says so. */
  #readinessNote(): string | undefined {
    const notes = [this.#unconfirmed(), this.#mesh?.identity.whyOutside].filter((note) => note !== undefined)
    return notes.length === 0 ? undefined : notes.join('; ')
  }

  #unconfirmed(): string | undefined {
    const { whyUnconfirmed, confirmedMs } = this.#client
    if (whyUnconfirmed === undefined || confirmedMs === undefined) return undefined
    return `the controller last confirmed the plan at ${new Date(confirmedMs).toISOString()}: ${whyUnconfirmed}`
  }

  #status(): StatusReport {
    const { publisher, report } = this.#data
    const notReady = this.whyNotReady
    const mesh = this.#mesh?.report
    const ofDataPlane = { ...report, configuration: this.#configuration(), ...(mesh && { mesh }) }
    return describeStatus({
      store: NO_OBJECTS,
      prices: this.#options.prices,
      findings: [],
      publisher,
      ofDataPlane,
      notReady,
    })
  }

  #configuration(): ConfigurationReport {
    const { versions, confirmedMs, whyUnconfirmed } = this.#client
    return {
      ...versions,
      ...(confirmedMs !== undefined && { confirmedAt: new Date(confirmedMs).toISOString() }),
      ...(whyUnconfirmed !== undefined && { unconfirmed: whyUnconfirmed }),
    }
  }

  #take(delta: PlanDelta): ReadonlyMap<string, readonly Finding[]> {
    // From now on no output shows a secret of the plan.
    for (const key of delta.removed) this.#secrets.set(key, [])
    for (const item of delta.set) this.#secrets.set(item.key, secretsOfItem(item))
    return this.#data.take({ ...delta, set: delta.set.map((item) => this.#placed(item)) })
  }

  /** The plan is the same for all proxies; where its sockets are is the affair of each. */
  #placed(item: PlanItem): PlanItem {
    return item.kind === 'listener' ? { ...item, address: this.#options.bind } : item
  }

  #reportReadiness(): void {
    if (!this.#draining) this.#events.readiness(this.whyNotReady)
  }
}
