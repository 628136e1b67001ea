import { startAdminServer } from '#admin/admin-server.ts'
import { startMetricsServer } from '#admin/metrics-server.ts'
import { startReadinessServer } from '#admin/readiness-server.ts'
import type { RunningServer } from '#admin/small-server.ts'
import { objectKey } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import type { ApiService } from '#apiserver/api-service.ts'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import { hostPort } from '#base/host-port.ts'
import { SecretSet } from '#base/secret-set.ts'
import { type ControlLoop, startControlLoop } from '#control/loop.ts'
import { noteSecrets } from '#control/secret-values.ts'
import { stampTogether } from '#control/status/stamp-status.ts'
import type { StatusChange } from '#control/translation.ts'
import { Translator } from '#control/translator.ts'
import type { SocketAddress } from '#net/connect/own-sockets.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { MetricsReader, type Sample } from '#observe/metrics/metrics-reader.ts'
import { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import type { MetricsFormat } from '#observe/metrics/write-family.ts'
import { encodeMetric } from '#observe/otlp/encode-metric.ts'
import { type MetricsExport, MetricsExporter } from '#observe/otlp/metrics-exporter.ts'
import type { PlanDelta } from '#plan/delta.ts'
import { socketKey } from '#plan/socket.ts'
import { BucketLevels } from '#state/bucket-levels.ts'
import { buffersOf, createSlotMemory } from '#state/slots.ts'
import { formatProblem } from '#store/file-problem.ts'
import { ServedStore } from '#store/served-store.ts'
import type { ObjectStore } from '#store/store.ts'
import { availableMemory, bodyMemoryOf } from '#workers/body-memory.ts'
import { DecisionFeed } from '#workers/decision-feed.ts'
import { collectGarbage, limitHeapGrowth, releaseMemory } from '#workers/release-memory.ts'
import { evictionReporter } from '#workers/report-eviction.ts'
import { measureRuntime } from '#workers/runtime-metrics.ts'
import { REPLACED_FOR, WorkerPool } from '#workers/worker-pool.ts'
import { gatewayAddresses } from './address-pool.ts'
import { certificateProblem, describeStatus } from './describe-status.ts'
import type { InstanceEvents, ListenerState } from './events.ts'
import { FailingOutputs } from './failing-outputs.ts'
import { gatherSamples } from './gather-samples.ts'
import { LevelFile } from './level-file.ts'
import { MainCalls } from './main-calls.ts'
import { MeasuredTraffic } from './measured-traffic.ts'
import type { InstanceOptions } from './options.ts'
import { PlanPublisher } from './plan-publisher.ts'
import { PriceCatalogue } from './price-catalogue.ts'
import { RecordFolder } from './record-folder.ts'
import { refusedEdits } from './refused-edits.ts'
import { ReloadMetrics } from './reload-metrics.ts'
import { type ShutdownTimes, shutdownTimes } from './shutdown-times.ts'
import { VERSION } from './version.ts'
import { whyNotReady } from './why-not-ready.ts'

const SLOTS = 65_536
/** A change of at least this many objects leaves garbage worth collecting. */
const BIG_CHANGE = 1000
/** Interval of retries for a listener whose port is in use. */
const RETRY_SOCKETS_MS = 2000

/** A running gateway: objects from files, control, proxy workers, and the servers for operators. */
export class Instance {
  readonly #options: InstanceOptions
  readonly #events: InstanceEvents
  readonly #store: ObjectStore
  readonly #publisher: PlanPublisher
  readonly #levelFile: LevelFile | undefined
  readonly #metrics: MetricsReader
  /** The metrics of the main thread. */
  readonly #ownMetrics: MetricsWriter
  readonly #reloads: ReloadMetrics
  readonly #runtime: { cancel(): void }
  readonly #workers: WorkerPool
  readonly #recordFolder: RecordFolder | undefined
  readonly #failingOutputs: FailingOutputs
  readonly #measured: MeasuredTraffic
  readonly #feed = new DecisionFeed((known) => this.#workers.newRecords(known))
  readonly #translator: Translator
  readonly #loop: ControlLoop
  readonly #calls: MainCalls
  readonly #prices: PriceCatalogue
  readonly #servers: RunningServer[] = []
  #api: ApiService | undefined
  readonly #secrets = new SecretSet()
  #appliedVersion = 0
  /** Listeners of the plan in force. Until the workers have applied a plan, the state of its sockets is not known. */
  #listeners: readonly ListenerState[] = []
  /** Called when the newest plan is in force. */
  readonly #waiting: (() => void)[] = []
  /** Plans are sent to the workers one after the other, because opening sockets takes time. */
  #publishing: Promise<void> = Promise.resolve()
  #retry: { cancel(): void } | undefined
  #started = false
  /** The gateway has been ready since it started. */
  #wasReady = false
  #draining = false
  #quit: () => void = () => {}
  #onObjects: (change: ObjectChange) => void = () => {}
  #stopRecording: (() => void) | undefined
  readonly #metricsExporter: MetricsExporter | undefined

  private constructor(options: InstanceOptions, events: InstanceEvents) {
    this.#options = options
    this.#events = events
    events.secrets(this.#secrets)
    this.#metrics = new MetricsReader({
      hide: (text) => this.#secrets.hide(text),
      folded: (label, place) => this.#ownMetrics.series('foldedValues', [label, ...place]).add(1),
      firstFolded: (label, place) => events.labelFolded(label, place),
    })
    this.#failingOutputs = new FailingOutputs(this.#metrics, events)
    this.#measured = new MeasuredTraffic(this.#metrics)
    this.#ownMetrics = new MetricsWriter((update) => this.#metrics.add('main', update))
    for (const why of REPLACED_FOR) this.#ownMetrics.series('workerReplacements', [why])
    this.#reloads = new ReloadMetrics(this.#ownMetrics)
    this.#runtime = measureRuntime(this.#ownMetrics, 'main')
    this.#metricsExporter = options.metricsExport && this.#exportMetrics(options.metricsExport)
    // The main thread makes calls, too.
    const memory = createSlotMemory(SLOTS, true, options.workers + 1)
    this.#levelFile = options.state && new LevelFile(options.state)
    this.#publisher = new PlanPublisher(
      memory,
      this.#levelFile?.levels ?? new BucketLevels(),
      evictionReporter(this.#ownMetrics, (...line) => events.message(...line)),
    )
    this.#workers = new WorkerPool(
      options.workers,
      {
        slots: buffersOf(memory),
        logFormat: options.logFormat,
        version: VERSION,
        logFile: options.logFile,
        sessionKeys: options.sessionKeys,
        bodyMemoryBytes: options.bodyMemoryBytes ?? bodyMemoryOf(availableMemory(), options.workers),
        recordBodyBytes: options.recordBodyBytes ?? 0,
        writesRecords: options.records !== undefined,
        forwardTo: options.forwardTo ?? [],
        transport: options.transport,
      },
      {
        applied: (version, failed) => this.#applied(version, failed),
        replaced: (name, why, cause) => {
          this.#ownMetrics.series('workerReplacements', [why]).add(1)
          events.workerReplaced(name, why, cause)
        },
        metrics: (worker, update) => this.#metrics.add(worker, update),
        ended: (worker, decisions) => {
          this.#metrics.ended(worker)
          this.#failingOutputs.forget(worker)
          this.#feed.ended(worker, decisions)
        },
        lastRecords: (records) => this.#feed.take(records),
        fact: (version, fact) => this.#loop.observed(version, fact),
        askedForKept: (of, id, fetchedMs) => this.#calls.requestKept(of, id, fetchedMs),
        log: (worker, state) => this.#failingOutputs.logChanged(worker, state),
        exports: (worker, state) => this.#failingOutputs.exportChanged(worker, state),
        message: (...line) => events.message(...line),
        bug: (decisionId, stack) => events.bug(decisionId, stack),
      },
      { startThread: options.startThread },
    )
    this.#recordFolder = options.records && this.#openRecordFolder(options.records)
    this.#store = options.store
    this.#translator = new Translator({ tlsMaterial: TLS_MATERIAL, address: gatewayAddresses(options) })
    this.#loop = startControlLoop({
      translator: this.#translator,
      publishPlan: (delta) => this.#publish(delta),
      publishStatuses: (changed, findings) => this.#statuses(changed, findings),
    })
    this.#prices = new PriceCatalogue(
      options.prices,
      (list) => this.#workers.publishPrices(list),
      (cause) =>
        events.message('instance', 'error', 'the built-in prices of models cannot be read', { cause: `${cause}` }),
    )
    this.#calls = new MainCalls({
      publisher: this.#publisher,
      workers: this.#workers,
      loop: this.#loop,
      metrics: this.#ownMetrics,
      secrets: this.#secrets,
      bug: (error) => this.#reportBug(error),
    })
  }

  /**
   * Starts everything. Resolves when the first plan is in force and each of its sockets is open or known to be in use.
   * @throws PortInUse, NotLoopback, BadAddressPool
   */
  static async start(options: InstanceOptions, events: InstanceEvents): Promise<Instance> {
    const instance = new Instance(options, events)
    try {
      await instance.#startServers()
      // The first start makes a certificate for the API; traffic does not wait for it.
      const folder = instance.#recordFolder
      instance.#stopRecording = folder && instance.#feed.read(folder)
      await Promise.all([instance.#startTraffic(), instance.#startApi()])
    } catch (error) {
      await instance.close({ minMs: 0, maxMs: 0 })
      throw error
    }
    instance.#levelFile?.start()
    instance.#started = true
    instance.#reportReadiness()
    return instance
  }

  /** Ports of the servers for operators. */
  get ports(): { readonly metrics: number; readonly readiness: number } {
    const [readiness, metrics] = this.#servers.map(({ port }) => port)
    return { metrics: metrics!, readiness: readiness! }
  }

  get adminUrl(): string {
    const [, , admin] = this.#servers
    return admin!.url
  }

  /** Address of the API; undefined: it is not served. */
  get apiUrl(): string | undefined {
    return this.#api?.url
  }

  /** Why the gateway is not ready for traffic; empty: it is. */
  get whyNotReady(): readonly string[] {
    const unknownProtection = this.#wasReady ? [] : this.#store.unknownProtection().map(formatProblem)
    return whyNotReady({
      unknownProtection,
      draining: this.#draining,
      started: this.#started,
      hasGateways: () => this.#store.list().some(({ kind }) => kind === 'Gateway'),
      listeners: this.#listeners,
    })
  }

  get store(): ObjectStore {
    return this.#store
  }

  /** The objects as an API server serves them, if the gateway keeps those. */
  get served(): ServedStore | undefined {
    return this.#store instanceof ServedStore ? this.#store : undefined
  }

  /** All problems of the objects. */
  get findings(): readonly Finding[] {
    return this.#translator.findings
  }

  get workers(): WorkerPool {
    return this.#workers
  }

  /** How long a shutdown would wait if it began now. */
  get shutdownTimes(): ShutdownTimes {
    return shutdownTimes(this.#publisher.items.values(), this.#options.shutdown)
  }

  /** Reads the files again and reopens the access log. */
  reload(): void {
    this.#store.reload()
    this.#options.prices?.reload()
    this.#workers.reopenLog()
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
    this.#runtime.cancel()
    this.#retry?.cancel()
    await this.#api?.close()
    this.#loop.close()
    this.#store.close()
    this.#options.prices?.close()
    this.#calls.close()
    await this.#publishing
    await this.#workers.drain(times.minMs, times.maxMs)
    await this.#recordFolder?.close()
    await this.#metricsExporter?.close()
    this.#stopRecording?.()
    this.#levelFile?.close()
    await Promise.all(this.#servers.map((server) => server.close()))
  }

  async #startServers(): Promise<void> {
    const { admin, metrics, readiness } = this.#options
    const reportBug = (error: unknown) => this.#reportBug(error)
    this.#servers.push(await startReadinessServer({ ...readiness, whyNotReady: () => this.whyNotReady, reportBug }))
    this.#servers.push(
      await startMetricsServer({ ...metrics, metricsText: (format) => this.#metricsText(format), reportBug }),
    )
    this.#servers.push(
      await startAdminServer({
        ...admin,
        version: VERSION,
        status: () =>
          describeStatus({
            store: this.#store,
            prices: this.#options.prices,
            findings: this.#translator.findings,
            publisher: this.#publisher,
            workers: this.#workers,
            outputs: this.#failingOutputs,
            recordFolder: this.#recordFolder,
            metricsExporter: this.#metricsExporter,
            keySets: this.#calls.keySets,
            credentials: this.#calls.credentials,
            planVersion: this.#appliedVersion,
            notReady: this.whyNotReady,
          }),
        traffic: () => this.#measured.report(),
        dump: () => ({ version: this.#publisher.version, items: this.#publisher.items.values() }),
        decisions: () => this.#workers.records(),
        profiles: {
          workers: () => this.#workers.members.map(({ name }) => name),
          record: (name, profile, durationMs) => this.#workers.profile(name, { profile, durationMs }),
        },
        followDecisions: (reader) => this.#feed.read(reader),
        sessions: () => this.#workers.sessions(),
        logLevels: () => this.#events.logLevels,
        hide: (text) => this.#secrets.hide(text),
        quit: () => this.#quit(),
        reportBug,
      }),
    )
  }

  async #startTraffic(): Promise<void> {
    using _ = limitHeapGrowth()
    this.#store.subscribe(() => this.#takeObjects())
    this.#options.prices?.subscribe(() => this.#reportFiles())
    this.#takeObjects()
    // The workers need as much memory again when they read the plan.
    if (this.#publisher.items.size >= BIG_CHANGE) collectGarbage()
    await this.#publishing
    await this.#prices.loaded
    await this.#untilApplied()
  }

  /** @throws PortInUse */
  async #startApi(): Promise<void> {
    const { api, state } = this.#options
    if (api === undefined) return
    if (state === undefined || !(this.#store instanceof ServedStore)) {
      return this.#events.message('apiserver', 'warn', 'the API is not served, because it has no state folder', {})
    }
    const { startApiService } = await import('#apiserver/api-service.ts')
    this.#api = await startApiService({
      ...api,
      table: this.#store.table,
      fileOf: (key) => this.served?.fileOf(key),
      findings: () => this.findings,
      files: state,
      version: VERSION,
      log: (...line) => this.#events.message('apiserver', ...line),
      reportBug: (error) => this.#reportBug(error),
    })
    // The workers get its socket.
    this.#send()
  }

  #openRecordFolder(options: NonNullable<InstanceOptions['records']>): RecordFolder {
    return new RecordFolder({
      ...options,
      version: VERSION,
      hide: (text) => this.#secrets.hide(text),
      written: (records) => this.#ownMetrics.series('recordsWritten', []).add(records),
      dropped: (records, reason) => this.#ownMetrics.series('recordsDropped', [reason]).add(records),
      report: (...line) => this.#events.message('observe', ...line),
    })
  }

  #metricsText(format: MetricsFormat): string {
    return this.#metrics.text(this.#samples(), format)
  }

  #exportMetrics(settings: MetricsExport): MetricsExporter {
    const count = (metric: 'telemetryExported' | 'telemetryDropped', ...labels: readonly string[]) =>
      this.#ownMetrics.series(metric, ['metrics', ...labels])
    return new MetricsExporter({
      ...settings,
      version: VERSION,
      read: (time) => [...this.#metrics.families(this.#samples())].map((family) => encodeMetric(family, time)),
      delivered: (metrics) => count('telemetryExported').add(metrics),
      dropped: (reason, metrics) => count('telemetryDropped', reason).add(metrics),
      log: (...line) => this.#events.message(...line),
    })
  }

  /** Values of metrics that nothing counts. */
  #samples(): readonly Sample[] {
    const findings = [...this.#store.problems(), ...(this.#options.prices?.problems ?? []), ...this.findings]
    const { endpoints, circuits, version: planVersion } = this.#publisher
    return gatherSamples({ endpoints, circuits, findings, planVersion, workers: this.#workers })
  }

  #takeObjects(): void {
    const change = this.#store.takeChange()
    // From now on no output shows a secret of the objects.
    noteSecrets(this.#secrets, change)
    this.#reportFiles()
    this.#loop.apply(change)
    this.#loop.refused(refusedEdits(this.#store.stale()))
    this.#reportReadiness()
    this.#onObjects(change)
    if (this.#started && change.set.length >= BIG_CHANGE) this.#publishing = this.#publishing.then(releaseMemory)
  }

  /** After any file has been read. */
  #reportFiles(): void {
    const { prices } = this.#options
    const problems = [...this.#store.problems(), ...(prices?.problems ?? [])]
    this.#events.objectsChanged(problems, [...this.#store.stale(), ...(prices?.stale ?? [])], this.#store.removed())
    this.#reloads.count(problems.every(({ severity }) => severity !== 'error'))
  }

  #reportBug(error: unknown): void {
    this.#events.bug('main', error instanceof Error ? (error.stack ?? '') : '')
  }

  #publish(delta: PlanDelta): ReadonlyMap<string, readonly Finding[]> {
    const problems = this.#publisher.take(delta)
    this.#calls.planChanged()
    this.#prices.planChanged(delta)
    this.#send()
    return problems
  }

  #send(): void {
    this.#publishing = this.#publishing.then(async () => {
      this.#workers.publish({ ...(await this.#publisher.publish()), otherSockets: this.#otherSockets() })
    })
  }

  /** Sockets of the servers for operators. */
  #otherSockets(): SocketAddress[] {
    const { admin, metrics, readiness } = this.#options
    const own = [readiness, metrics, admin].map(({ host }, at) => ({ address: host, port: this.#servers[at]!.port }))
    return this.#api === undefined ? own : [...own, { address: this.#options.api!.host, port: this.#api.port }]
  }

  #applied(version: number, failed: readonly { readonly socket: string; readonly message: string }[]): void {
    this.#appliedVersion = version
    if (version >= this.#publisher.version) for (const resolve of this.#waiting.splice(0)) resolve()
    for (const { socket, message } of failed) this.#publisher.lost(socket, message)
    this.#loop.bound(this.#publisher.bindings())
    this.#listeners = this.#describeListeners()
    this.#events.applied(version, this.#listeners)
    this.#reportReadiness()
    this.#retrySockets()
  }

  #describeListeners(): ListenerState[] {
    return this.#publisher.listeners.map((item) => ({
      name: `${item.gateway.namespace}/${item.gateway.name}/${item.name}`,
      url: `${item.protocol.toLowerCase()}://${hostPort(item.address, item.port)}`,
      problem: this.#publisher.refused.get(socketKey(item)) ?? certificateProblem(item),
    }))
  }

  #reportReadiness(): void {
    const { whyNotReady } = this
    this.#wasReady ||= whyNotReady.length === 0
    if (this.#started && !this.#draining) this.#events.readiness(whyNotReady)
  }

  /** A port that is in use may become free without a change of objects. */
  #retrySockets(): void {
    this.#retry?.cancel()
    this.#retry = undefined
    if (this.#publisher.refused.size === 0 || this.#draining) return
    this.#retry = clock.after(RETRY_SOCKETS_MS, () => this.#send())
  }

  #statuses({ written, withdrawn }: StatusChange, findings: readonly Finding[] | undefined): void {
    const stamp = stampTogether(new Date(clock.now()).toISOString())
    const stamped = written.map(({ kind, namespace, name, status }) => {
      const key = objectKey(kind, namespace, name)
      return [key, stamp(status, this.#store.statusOf(key))] as const
    })
    this.#store.writeStatuses({ written: stamped, withdrawn })
    if (findings !== undefined) this.#events.translated(findings, this.#store)
  }

  /** Resolves when all workers run with the newest plan. */
  #untilApplied(): Promise<void> {
    if (this.#appliedVersion >= this.#publisher.version) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
