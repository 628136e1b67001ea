import { clock } from '#base/clock.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import type { Finding } from '#base/finding.ts'
import { hostPort } from '#base/host-port.ts'
import type { NodeFault } from '#base/incremental/stage.ts'
import type { SecretSet } from '#base/secret-set.ts'
import type { OperatorSocket } from '#net/connect/own-machine.ts'
import type { MeshMaterial } from '#net/hbone/mesh-material.ts'
import type { MeshMember } from '#net/hbone/mesh-member.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { MetricsReader, type Sample } from '#observe/metrics/metrics-reader.ts'
import { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import type { MetricsFormat } from '#observe/metrics/write-family.ts'
import { encodeMetric } from '#observe/otlp/encode-metric.ts'
import { type MetricsExport, MetricsExporter } from '#observe/otlp/metrics-exporter.ts'
import type { PlanDelta } from '#plan/delta.ts'
import { endsIn } from '#plan/material-ends.ts'
import type { PlanReports, PlanTarget } from '#plan/plan-link.ts'
import { type ListeningSocket, socketKey } from '#plan/socket.ts'
import { BucketLevels } from '#state/bucket-levels.ts'
import { buffersOf, createSlotMemory } from '#state/slots.ts'
import { availableMemory, bodyMemoryOf } from '#workers/body-memory.ts'
import { DecisionFeed } from '#workers/decision-feed.ts'
import { evictionReporter } from '#workers/report-eviction.ts'
import { measureRuntime } from '#workers/runtime-metrics.ts'
import { REPLACED_FOR, WorkerPool } from '#workers/worker-pool.ts'
import { certificateProblem, type DataPlaneReport } from './describe-status.ts'
import type { InstanceEvents, ListenerState } from './events.ts'
import { FailingOutputs } from './failing-outputs.ts'
import { gatherSamples, type UsedEnd } from './gather-samples.ts'
import { LevelFile } from './level-file.ts'
import { MainCalls } from './main-calls.ts'
import { MeasuredTraffic } from './measured-traffic.ts'
import type { DataPlaneOptions } from './options.ts'
import { PlanPublisher } from './plan-publisher.ts'
import { SLOTS } from './plan-state.ts'
import { PriceCatalogue } from './price-catalogue.ts'
import { RecordFolder } from './record-folder.ts'
import { ReloadMetrics } from './reload-metrics.ts'
import { type ShutdownTimes, shutdownTimes } from './shutdown-times.ts'
import { VERSION } from './version.ts'

/** Interval of retries for a listener whose port is in use. */
const RETRY_SOCKETS_MS = 2000

export interface DataPlaneParts {
  readonly events: InstanceEvents
  /** Gets secrets that are fetched. */
  readonly secrets: SecretSet
  /** Called while the data plane runs, not before its constructor returns. */
  readonly reports: PlanReports
  /** Sockets of the servers for operators. */
  readonly operatorSockets: () => readonly OperatorSocket[]
  /** Problems of all objects and files, for metrics. */
  readonly problems: () => readonly Pick<ConfigProblem, 'severity' | 'code'>[]
  /** When the controller last confirmed the plan, in milliseconds since the epoch. */
  readonly confirmedMs?: () => number | undefined
  /** Values of further metrics. */
  readonly samples?: () => readonly Sample[]
  /** All workers run this version of the plan. */
  readonly applied?: (version: number) => void
  /** A plan is in force in all workers, or a worker began or ceased to refuse requests. */
  readonly readinessMayChange: () => void
  readonly reportBug: (error: unknown) => void
  readonly onFault: (fault: NodeFault) => void
}

/** The data plane of an instance: the plan, the proxy workers that run it, the calls that the main thread makes for them, and metrics. */
export class DataPlane implements PlanTarget {
  readonly workers: WorkerPool
  readonly publisher: PlanPublisher
  readonly feed = new DecisionFeed((known) => this.workers.newRecords(known))
  /** The requests since the start. */
  readonly measured: MeasuredTraffic
  /** Counts how often the objects were read. */
  readonly reloads: ReloadMetrics
  readonly #parts: DataPlaneParts
  readonly #options: DataPlaneOptions
  readonly #levelFile: LevelFile | undefined
  readonly #metrics: MetricsReader
  /** The metrics of the main thread. */
  readonly #ownMetrics: MetricsWriter
  readonly #runtime: { cancel(): void }
  readonly #recordFolder: RecordFolder | undefined
  readonly #failingOutputs: FailingOutputs
  readonly #calls: MainCalls
  /** For the calls of the main thread. */
  readonly #mesh: MeshMember = { material: undefined }
  readonly #prices: PriceCatalogue
  readonly #metricsExporter: MetricsExporter | undefined
  #appliedVersion = 0
  /** Listeners of the plan in force. Until the workers have applied a plan, the state of its sockets is not known. */
  #listeners: readonly ListenerState[] = []
  /** Called when the newest plan is in force. */
  readonly #waiting: (() => void)[] = []
  /** Plans are sent to the workers one after the other, because opening sockets takes time. */
  #publishing: Promise<void> = Promise.resolve()
  #retry: { cancel(): void } | undefined
  #draining = false
  #stopRecording: (() => void) | undefined

  constructor(options: DataPlaneOptions, parts: DataPlaneParts) {
    const { events, secrets, reports, reportBug, onFault } = parts
    this.#options = options
    this.#parts = parts
    this.#metrics = new MetricsReader({
      hide: (text) => secrets.hide(text),
      folded: (label, place) => this.#ownMetrics.series('foldedValues', [label, ...place]).add(1),
      firstFolded: (label, place) => events.labelFolded(label, place),
    })
    this.#failingOutputs = new FailingOutputs(this.#metrics, events)
    this.measured = new MeasuredTraffic(this.#metrics)
    this.#ownMetrics = new MetricsWriter((update) => this.#metrics.add('main', update))
    for (const why of REPLACED_FOR) this.#ownMetrics.series('workerReplacements', [why])
    this.reloads = new ReloadMetrics(this.#ownMetrics)
    this.#runtime = measureRuntime(this.#ownMetrics, 'main')
    this.#metricsExporter = options.metricsExport && this.#exportMetrics(options.metricsExport)
    // The main thread makes calls, too.
    const memory = createSlotMemory(SLOTS, true, options.workers + 1)
    this.#levelFile = options.state && new LevelFile(options.state)
    this.publisher = new PlanPublisher(memory, this.#levelFile?.levels ?? new BucketLevels(), {
      evicted: evictionReporter(this.#ownMetrics, (...line) => events.message(...line)),
      servers: parts.operatorSockets,
      inherited: options.predecessor?.traffic ?? [],
      onFault,
    })
    this.workers = new WorkerPool(
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
          this.feed.ended(worker, decisions)
        },
        lastRecords: (records) => this.feed.take(records),
        fact: (version, fact) => reports.observed(version, fact),
        askedForKept: (of, id, fetchedMs) => this.#calls.requestKept(of, id, fetchedMs),
        fullWorkersChanged: () => parts.readinessMayChange(),
        log: (worker, state) => this.#failingOutputs.logChanged(worker, state),
        exports: (worker, state) => this.#failingOutputs.exportChanged(worker, state),
        message: (...line) => events.message(...line),
        bug: (decisionId, stack) => events.bug(decisionId, stack),
      },
      { startThread: options.startThread },
    )
    this.#recordFolder = options.records && this.#openRecordFolder(options.records)
    this.#prices = new PriceCatalogue(
      options.prices,
      (list) => this.workers.publishPrices(list),
      (cause) =>
        events.message('instance', 'error', 'the built-in prices of models cannot be read', { cause: `${cause}` }),
    )
    this.#calls = new MainCalls({
      publisher: this.publisher,
      workers: this.workers,
      reports,
      metrics: this.#ownMetrics,
      mesh: this.#mesh,
      secrets,
      bug: reportBug,
    })
    this.#stopRecording = this.#recordFolder && this.feed.read(this.#recordFolder)
  }

  take(delta: PlanDelta): ReadonlyMap<string, readonly Finding[]> {
    const problems = this.publisher.take(delta)
    this.#calls.planChanged()
    this.#prices.planChanged(delta)
    this.send()
    return problems
  }

  /** @param material undefined: the certificate has expired */
  meshMaterialChanged(material: MeshMaterial | undefined): void {
    this.#mesh.material = material
    this.workers.publishMeshMaterial(material)
  }

  /** Sends the workers what has changed for them, also the sockets of operators. */
  send(): void {
    this.#publishing = this.#publishing.then(async () => {
      this.workers.publish({ ...(await this.publisher.publish()), operatorSockets: this.#parts.operatorSockets() })
    })
  }

  /** Runs after the plans that are on their way have been sent. */
  afterSending(work: () => Promise<void> | void): void {
    this.#publishing = this.#publishing.then(work)
  }

  /** Resolves when all workers run with the newest plan, and know the prices that it needs. */
  async untilApplied(): Promise<void> {
    await this.#publishing
    await this.#prices.loaded
    if (this.#appliedVersion >= this.publisher.version) return
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** From now on the levels of rate limits are kept. */
  keepLevels(): void {
    this.#levelFile?.start()
  }

  /** Saves the levels of rate limits for another process, and keeps them no longer. */
  lendLevels(): void {
    this.#levelFile?.close()
  }

  /**
   * The sockets that the workers listen on.
   * @throws Error if they cannot be known
   */
  async sockets(): Promise<readonly ListeningSocket[]> {
    await this.#publishing
    const sockets = await this.workers.sockets()
    if (sockets === undefined) throw new Error('a worker does not answer')
    return sockets
  }

  /** Listeners of the plan in force. */
  get listeners(): readonly ListenerState[] {
    return this.#listeners
  }

  /** How long a shutdown would wait if it began now. */
  get shutdownTimes(): ShutdownTimes {
    return shutdownTimes(this.publisher.items.values(), this.#options.shutdown)
  }

  /** For `/status`. */
  get report(): DataPlaneReport {
    return {
      planVersion: this.#appliedVersion,
      workers: this.workers.members,
      failingOutputs: this.#failingOutputs.report({
        records: this.#recordFolder?.failure,
        metrics: this.#metricsExporter?.failure,
        items: this.publisher.items.values(),
      }),
      keySets: this.#calls.keySets,
      credentials: this.#calls.credentials,
    }
  }

  metricsText(format: MetricsFormat): string {
    return this.#metrics.text(this.#samples(), format)
  }

  /** No request begins any more, and no plan is sent. */
  stopTaking(): void {
    this.#draining = true
    this.#runtime.cancel()
    this.#retry?.cancel()
    this.#calls.close()
  }

  /** Waits for requests in flight, and stops everything. */
  async close({ minMs, maxMs }: ShutdownTimes): Promise<void> {
    await this.#publishing
    await this.workers.drain(minMs, maxMs)
    await this.#recordFolder?.close()
    await this.#metricsExporter?.close()
    this.#stopRecording?.()
    this.#levelFile?.close()
  }

  #openRecordFolder(options: NonNullable<DataPlaneOptions['records']>): RecordFolder {
    return new RecordFolder({
      ...options,
      version: VERSION,
      hide: (text) => this.#parts.secrets.hide(text),
      written: (records) => this.#ownMetrics.series('recordsWritten', []).add(records),
      dropped: (records, reason) => this.#ownMetrics.series('recordsDropped', [reason]).add(records),
      report: (...line) => this.#parts.events.message('observe', ...line),
    })
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
      log: (...line) => this.#parts.events.message(...line),
    })
  }

  /** Values of metrics that nothing counts. */
  #samples(): readonly Sample[] {
    const { endpoints, circuits, version: planVersion } = this.publisher
    const own = gatherSamples({
      endpoints,
      circuits,
      findings: this.#parts.problems(),
      planVersion,
      ends: this.#ends(),
      planConfirmedMs: this.#parts.confirmedMs?.(),
      workers: this.workers,
    })
    return [...own, ...(this.#parts.samples?.() ?? [])]
  }

  #ends(): readonly UsedEnd[] {
    const isPast = (ms: number) => clock.now() > ms
    return [...this.publisher.items.values()].flatMap((item) => {
      if (item.kind !== 'secret' && item.kind !== 'configmap') return []
      return endsIn(item.data, TLS_MATERIAL.validity, isPast).map((end) => ({ object: item.key, ...end }))
    })
  }

  #applied(version: number, failed: readonly { readonly socket: string; readonly message: string }[]): void {
    const { reports, events, readinessMayChange } = this.#parts
    this.#appliedVersion = version
    if (version >= this.publisher.version) for (const resolve of this.#waiting.splice(0)) resolve()
    for (const { socket, message } of failed) this.publisher.lost(socket, message)
    reports.bound(version, this.publisher.bindings())
    this.#listeners = this.#describeListeners()
    events.applied(version, this.#listeners)
    this.#parts.applied?.(version)
    readinessMayChange()
    this.#retrySockets()
  }

  #describeListeners(): ListenerState[] {
    return this.publisher.listeners.map((item) => ({
      name: `${item.gateway.namespace}/${item.gateway.name}/${item.name}`,
      url: `${item.protocol.toLowerCase()}://${hostPort(item.address, item.port)}`,
      problem: this.publisher.refused.get(socketKey(item)) ?? certificateProblem(item),
    }))
  }

  /** A port that is in use may become free without a change of objects. */
  #retrySockets(): void {
    this.#retry?.cancel()
    this.#retry = undefined
    if (this.publisher.refused.size === 0 || this.#draining) return
    this.#retry = clock.after(RETRY_SOCKETS_MS, () => this.send())
  }
}
