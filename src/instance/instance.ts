import type { ObjectChange } from '#api/object-change.ts'
import type { ApiService } from '#apiserver/api-service.ts'
import type { Finding } from '#base/finding.ts'
import { SecretSet } from '#base/secret-set.ts'
import { noteSecrets } from '#control/secret-values.ts'
import { type FileProblem, formatProblem } from '#store/file-problem.ts'
import { ServedStore } from '#store/served-store.ts'
import type { ObjectStore } from '#store/store.ts'
import { collectGarbage, limitHeapGrowth, releaseMemory } from '#workers/release-memory.ts'
import type { WorkerPool } from '#workers/worker-pool.ts'
import { gatewayAddresses } from './address-pool.ts'
import { Certificates } from './certificates.ts'
import { ControlPlane } from './control-plane.ts'
import { DataPlane } from './data-plane.ts'
import { describeStatus } from './describe-status.ts'
import { type BugReports, bugReports, type InstanceEvents } from './events.ts'
import { MAX_FILES, neededFiles } from './file-limit.ts'
import { OperatorServers, partsOf } from './operator-servers.ts'
import type { InstanceOptions, Predecessor } from './options.ts'
import type { ShutdownTimes } from './shutdown-times.ts'
import { VERSION } from './version.ts'
import { whyNotReady } from './why-not-ready.ts'

/** A change of at least this many objects leaves garbage worth collecting. */
const BIG_CHANGE = 1000

/** A gateway that replaces another one would serve less than that one. The message is one line for a terminal. */
export class NotReady extends Error {
  override readonly name = 'NotReady'

  constructor(reasons: readonly string[]) {
    super(`it is not ready: ${reasons.join('; ')}`)
  }
}

/** A gateway in one process: a control plane and a data plane that are joined in memory, and the servers for operators. */
export class Instance {
  readonly #options: InstanceOptions
  readonly #events: InstanceEvents
  readonly #bugs: BugReports
  readonly #data: DataPlane
  readonly #control: ControlPlane
  readonly #servers: OperatorServers
  /** Undefined without a folder for their account. */
  readonly #certificates: Certificates | undefined
  #api: ApiService | undefined
  readonly #secrets = new SecretSet()
  #started = false
  /** The gateway has been ready since it started. */
  #wasReady = false
  #draining = false
  #quit: () => void = () => {}
  #onObjects: (change: ObjectChange) => void = () => {}

  private constructor(options: InstanceOptions, events: InstanceEvents) {
    this.#options = options
    this.#events = events
    this.#bugs = bugReports(events)
    events.secrets(this.#secrets)
    this.#servers = new OperatorServers(options)
    this.#data = new DataPlane(options, {
      ...this.#bugs,
      events,
      secrets: this.#secrets,
      reports: {
        bound: (...report) => this.#control.reports.bound(...report),
        observed: (version, fact) => this.#control.reports.observed(version, fact),
        recompiled: (problems) => this.#control.reports.recompiled(problems),
      },
      operatorSockets: () => this.#servers.sockets(this.#api),
      problems: () => [...this.#fileProblems(), ...this.findings],
      readinessMayChange: () => this.#reportReadiness(),
    })
    const { state, store } = options
    this.#certificates = state?.isUsable
      ? new Certificates({
          state,
          store,
          applied: () => this.#data.untilApplied(),
          found: (gateway, findings) => this.#control.deployed(gateway, findings),
          message: (...line) => events.message(...line),
          reportBug: this.#bugs.reportBug,
        })
      : undefined
    const certificates = this.#certificates
    this.#control = new ControlPlane({
      ...options,
      store: certificates?.store ?? store,
      acmeThumbprint: certificates && (() => certificates.thumbprint()),
      addresses: gatewayAddresses(options),
      plans: this.#data,
      takes: (change) => {
        noteSecrets(this.#secrets, change)
        this.#reportFiles()
      },
      taken: (change) => this.#objectsTaken(change),
      translated: (findings) => events.translated(findings, options.store),
      onFault: this.#bugs.onFault,
    })
  }

  /**
   * Starts everything. Resolves when the first plan is in force and each of its sockets is open or known to be in use.
   * @throws PortInUse, NotLoopback, BadAddressPool, NotReady
   */
  static async start(options: InstanceOptions, events: InstanceEvents): Promise<Instance> {
    const instance = new Instance(options, events)
    instance.#checkFileLimit()
    const { predecessor } = options
    try {
      if (predecessor !== undefined) await instance.#replace(predecessor)
      else {
        await instance.#startServers()
        // The first start makes a certificate for the API; traffic does not wait for it.
        await Promise.all([instance.#startTraffic(), instance.#startApi()])
      }
    } catch (error) {
      predecessor?.failed((error as Error).message)
      // Clients have no request yet, or had some with sockets of the predecessor.
      await instance.close({ minMs: 0, maxMs: predecessor === undefined ? 0 : instance.shutdownTimes.maxMs })
      throw error
    }
    instance.#data.keepLevels()
    instance.#started = true
    instance.#certificates?.start()
    instance.#reportReadiness()
    return instance
  }

  /** Ports of the servers for operators. */
  get ports(): { readonly metrics: number; readonly readiness: number } {
    return this.#servers.ports
  }

  get adminUrl(): string {
    return this.#servers.adminUrl
  }

  /** Address of the API; undefined: it is not served. */
  get apiUrl(): string | undefined {
    return this.#api?.url
  }

  /** Why the gateway is not ready for traffic; empty: it is. */
  get whyNotReady(): readonly string[] {
    const { store } = this
    return whyNotReady({
      unknownProtection: this.#wasReady ? [] : store.unknownProtection().map(formatProblem),
      draining: this.#draining,
      started: this.#started,
      hasGateways: () => store.list().some(({ kind }) => kind === 'Gateway'),
      listeners: this.#data.listeners,
      fullWorkers: this.workers.fullWorkers,
    })
  }

  get store(): ObjectStore {
    return this.#options.store
  }

  /** The objects as an API server serves them, if the gateway keeps those. */
  get served(): ServedStore | undefined {
    return this.store instanceof ServedStore ? this.store : undefined
  }

  /** All problems of the objects. */
  get findings(): readonly Finding[] {
    return this.#control.findings
  }

  get workers(): WorkerPool {
    return this.#data.workers
  }

  /** How long a shutdown would wait if it began now. */
  get shutdownTimes(): ShutdownTimes {
    return this.#data.shutdownTimes
  }

  /** Reads the files again and reopens the access log. */
  reload(): void {
    this.store.reload()
    this.#options.prices?.reload()
    this.workers.reopenLog()
  }

  /** Called after each change of the objects; listing all of them takes milliseconds if there are thousands. */
  onObjects(changed: (change: ObjectChange) => void): void {
    this.#onObjects = changed
  }

  /** Called once when a client of the admin port requests a shutdown. */
  onQuit(quit: () => void): void {
    this.#quit = quit
  }

  /** Stops accepting traffic, waits for requests in flight, stops everything. */
  async close(times = this.shutdownTimes): Promise<void> {
    this.#draining = true
    this.#certificates?.close()
    await this.#api?.close()
    this.#control.close()
    this.#options.prices?.close()
    this.#data.stopTaking()
    await this.#data.close(times)
    await this.#servers.close()
  }

  /**
   * Its sockets, for a process that replaces this one.
   * @throws Error if they cannot be known
   */
  async sockets(): Promise<Pick<Predecessor, 'traffic' | 'operators'>> {
    return { traffic: await this.#data.sockets(), operators: this.#servers.listening(this.#api) }
  }

  /** Another process begins with the state folder as it is. Until it serves, or has failed, nothing is saved. */
  lendState(): void {
    this.#data.lendLevels()
  }

  /** The other process has failed. */
  takeStateBack(): void {
    this.#data.keepLevels()
  }

  /** Another process serves: only open connections remain. Its sockets are the same, so none of this closes one of a client. */
  handOver(): void {
    this.#draining = true
    this.#certificates?.close()
    this.#control.close()
    void this.#api?.close()
    void this.#servers.close()
  }

  /** Starts while another process serves from the same sockets. It serves whenever this fails. */
  async #replace(predecessor: Predecessor): Promise<void> {
    // Clients would reach at once what a policy may protect.
    const unprotected = this.store.unknownProtection().map(formatProblem)
    if (predecessor.isReady && unprotected.length > 0) throw new NotReady(unprotected)
    await this.#startTraffic()
    this.#started = true
    const { whyNotReady } = this
    if (predecessor.isReady && whyNotReady.length > 0) throw new NotReady(whyNotReady)
    this.#data.publisher.closeInherited()
    await this.#startServers()
    await this.#startApi()
    this.#servers.closeInherited()
    // The workers have got the sockets of these servers only as they are configured.
    this.#data.send()
    await predecessor.takeOver()
  }

  async #startServers(): Promise<void> {
    await this.#servers.start({
      ...partsOf(this.#data),
      events: this.#events,
      secrets: this.#secrets,
      whyNotReady: () => this.whyNotReady,
      status: () =>
        describeStatus({
          store: this.store,
          prices: this.#options.prices,
          findings: this.findings,
          publisher: this.#data.publisher,
          ofDataPlane: this.#data.report,
          notReady: this.whyNotReady,
        }),
      quit: () => this.#quit(),
      reportBug: this.#bugs.reportBug,
    })
  }

  #checkFileLimit(): void {
    const needed = neededFiles(this.#options.workers)
    if (needed === undefined) return
    const fields = { limit: MAX_FILES, needed }
    this.#events.message(
      'instance',
      'warn',
      'the limit of open files is low; raise it (ulimit -n, LimitNOFILE)',
      fields,
    )
  }

  async #startTraffic(): Promise<void> {
    // For few objects it saves nothing, and while its flags differ from those that code was compiled with, V8 refuses to load that from a cache.
    using _ = this.store.list().length >= BIG_CHANGE ? limitHeapGrowth() : undefined
    this.#options.prices?.subscribe(() => this.#reportFiles())
    this.#control.start()
    // The workers need as much memory again when they read the plan.
    if (this.#data.publisher.items.size >= BIG_CHANGE) collectGarbage()
    await this.#data.untilApplied()
  }

  /** @throws PortInUse */
  async #startApi(): Promise<void> {
    const { api, state } = this.#options
    if (api === undefined) return
    const { served } = this
    if (state === undefined || served === undefined) {
      return this.#events.message('apiserver', 'warn', 'the API is not served, because it has no state folder', {})
    }
    const { startApiService } = await import('#apiserver/api-service.ts')
    this.#api = await startApiService({
      ...api,
      inherited: this.#servers.inherited('api'),
      table: served.table,
      fileOf: (key) => served.fileOf(key),
      findings: () => this.findings,
      files: state,
      version: VERSION,
      log: (...line) => this.#events.message('apiserver', ...line),
      reportBug: this.#bugs.reportBug,
    })
    // The workers get its socket.
    this.#data.send()
  }

  #objectsTaken(change: ObjectChange): void {
    this.#reportReadiness()
    this.#onObjects(change)
    this.#certificates?.changed(change)
    if (this.#started && change.set.length >= BIG_CHANGE) this.#data.afterSending(releaseMemory)
  }

  #fileProblems(): readonly FileProblem[] {
    return [...this.store.problems(), ...(this.#options.prices?.problems ?? [])]
  }

  /** After any file has been read. */
  #reportFiles(): void {
    const problems = this.#fileProblems()
    const stale = [...this.store.stale(), ...(this.#options.prices?.stale ?? [])]
    this.#events.objectsChanged(problems, stale, this.store.removed())
    this.#data.reloads.count(problems.every(({ severity }) => severity !== 'error'))
  }

  #reportReadiness(): void {
    const { whyNotReady } = this
    this.#wasReady ||= whyNotReady.length === 0
    if (this.#started && !this.#draining) this.#events.readiness(whyNotReady)
  }
}
