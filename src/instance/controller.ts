import { createSecureContext } from 'node:tls'
import type { StatusReport } from '#admin/status-report.ts'
import { type ApiObject, keyOf } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import { SecretSet } from '#base/secret-set.ts'
import type { ApiAccess } from '#cluster/api-access.ts'
import { ApiClient } from '#cluster/api-client.ts'
import { ClusterStore } from '#cluster/cluster-store.ts'
import { ProxyAccounts } from '#cluster/deploy/proxy-accounts.ts'
import { GatewayDefinitions } from '#cluster/gateway-definitions.ts'
import { itemsOf, membersOf } from '#cluster/kubeconfig.ts'
import { BEHIND_SERVICES } from '#cluster/statuses/behind-services.ts'
import { ClassFinalizers } from '#cluster/statuses/class-finalizers.ts'
import { ClusterStatuses } from '#cluster/statuses/cluster-statuses.ts'
import { EventWriter } from '#cluster/statuses/event-writer.ts'
import { TokenReviews } from '#cluster/token-reviews.ts'
import type { ControllerNames } from '#control/context/controller.ts'
import { noteSecrets } from '#control/secret-values.ts'
import type { DefinitionVersions } from '#control/status/supported-version.ts'
import type { DeploySettings } from '#deploy/settings.ts'
import type { PlanDelta } from '#plan/delta.ts'
import { ControlPlane } from './control-plane.ts'
import { type CertificateNames, ControllerCertificate } from './controller-certificate.ts'
import { ControllerMetrics } from './controller-metrics.ts'
import { Deployer } from './deployer.ts'
import { describeStatus } from './describe-status.ts'
import { type BugReports, bugReports, type InstanceEvents } from './events.ts'
import { gatherControllerSamples } from './gather-samples.ts'
import { OperatorServers } from './operator-servers.ts'
import type { HostPort, InstanceOptions } from './options.ts'
import { PlanChecks } from './plan-checks.ts'
import { ProxyDelivery } from './proxy-delivery.ts'

export interface ControllerOptions
  extends Pick<InstanceOptions, 'admin' | 'metrics' | 'readiness' | 'state'>,
    CertificateNames {
  readonly access: ApiAccess
  readonly names: ControllerNames
  /** Namespaces that are read; none: all. */
  readonly namespaces: readonly string[]
  readonly delivery: HostPort
  readonly settings: Omit<DeploySettings, 'authority'>
}

/** Kinds that decide which classes and Gateways there are. */
const OF_CLASSES: ReadonlySet<string> = new Set(['GatewayClass', 'Gateway'])

/** Objects of a cluster have no place in a file. */
const NO_FILES = { locate: () => undefined, stale: () => [] }

/** A control plane for Kubernetes: it reads objects from a cluster, deploys proxies, and delivers their plans. */
export class Controller {
  readonly #options: ControllerOptions
  readonly #events: InstanceEvents
  readonly #bugs: BugReports
  readonly #secrets = new SecretSet()
  readonly #metrics = new ControllerMetrics(this.#secrets)
  readonly #client: ApiClient
  readonly #store: ClusterStore
  readonly #statuses: ClusterStatuses
  readonly #eventWriter: EventWriter
  readonly #finalizers: ClassFinalizers
  readonly #definitions: GatewayDefinitions
  readonly #certificate: ControllerCertificate
  readonly #checks: PlanChecks
  readonly #control: ControlPlane
  readonly #delivery: ProxyDelivery
  readonly #servers: OperatorServers
  #deployer: Deployer | undefined
  #definitionVersions: DefinitionVersions | undefined
  #quit: () => void = () => {}
  /** When the translation under way began. */
  #takenMs = 0
  #isTranslated = false
  #isClosed = false
  #deliveryPort = 0

  constructor(options: ControllerOptions, events: InstanceEvents) {
    const { access, names, namespaces, settings } = options
    const client = new ApiClient(access, (request) => this.#metrics.asked(request))
    this.#client = client
    this.#servers = new OperatorServers(options)
    this.#options = options
    this.#events = events
    this.#bugs = bugReports(events)
    events.secrets(this.#secrets)
    const failed = (message: string) => this.#warn(message)
    this.#eventWriter = new EventWriter({ client, failed, component: names.controller })
    this.#statuses = new ClusterStatuses({
      client,
      controller: names.controller,
      failed,
      versionOf: (info) => this.#store.versionOf(info),
      seen: (key) => this.#store.seen(key),
      written: (object, before, after) => this.#eventWriter.tell(object, before, after),
    })
    this.#store = new ClusterStore({ client, namespaces, statuses: this.#statuses })
    this.#finalizers = new ClassFinalizers({ client, controller: names.controller, failed })
    this.#definitions = new GatewayDefinitions({
      client,
      changed: (versions) => this.#defined(versions),
      failed,
      reportBug: this.#bugs.reportBug,
    })
    this.#certificate = new ControllerCertificate({ ...options, client, failed })
    this.#checks = new PlanChecks(this.#bugs.onFault)
    this.#control = new ControlPlane({
      names,
      store: this.#store,
      plans: { take: (delta) => this.#take(delta) },
      addresses: BEHIND_SERVICES,
      takes: (change) => {
        this.#takenMs = clock.monotonic()
        noteSecrets(this.#secrets, change)
      },
      taken: (change) => this.#objectsTaken(change),
      translated: (findings) => events.translated(findings, NO_FILES),
      onFault: this.#bugs.onFault,
    })
    this.#delivery = new ProxyDelivery({
      address: options.delivery,
      accounts: new ProxyAccounts(client, new TokenReviews(client, settings.audience), (key) => this.#uidOf(key)),
      reports: this.#control.reports,
      events,
      reportBug: this.#bugs.reportBug,
    })
  }

  /**
   * Starts the servers for operators, and then, as soon as the API answers, the one for proxies. Until everything was read, `whyNotReady` says
   * what is missing.
   * @throws PortInUse, NotLoopback
   */
  async start(): Promise<void> {
    const { reportBug } = this.#bugs
    this.#store.subscribe(() => this.#events.clusterChanged(this.#store.problems()))
    await this.#servers.start({
      metricsText: (format) => this.#metrics.reader.text(this.#samples(), format),
      dump: () => ({ version: this.#delivery.version, items: this.#control.items.values() }),
      events: this.#events,
      secrets: this.#secrets,
      whyNotReady: () => this.whyNotReady,
      status: () => this.#status(),
      quit: () => this.#quit(),
      reportBug,
    })
    const tls = await this.#certificate.obtain()
    if (tls === undefined || this.#isClosed) return
    const context = createSecureContext({ cert: tls['tls.crt'], key: tls['tls.key'], minVersion: 'TLSv1.2' })
    this.#deliveryPort = await this.#delivery.listen(context)
    this.#deployer = new Deployer({
      api: this.#client,
      names: this.#options.names,
      settings: { ...this.#options.settings, authority: tls['ca.crt']! },
      objects: () => this.#store.list(),
      found: (gateway, findings) => this.#control.deployed(gateway, findings),
      looked: (outcome, ms) => this.#metrics.reconciled('deployment', outcome, ms),
      failed: (message) => this.#warn(message),
      reportBug,
    })
    void Promise.all([this.#store.synced, this.#definitions.looked])
      .then(() => this.#begin())
      .catch(reportBug)
  }

  get whyNotReady(): readonly string[] {
    if (this.#isClosed) return ['stopping']
    const { problem } = this.#certificate
    const missing = problem === undefined ? [] : [`no certificate for proxies yet: ${problem}`]
    const reasons = [...missing, ...this.#store.whyNotReady()]
    if (reasons.length > 0) return reasons
    return this.#isTranslated ? [] : ['the objects are not translated yet']
  }

  get addresses(): {
    readonly admin: string
    readonly metrics: number
    readonly readiness: number
    readonly delivery: number
  } {
    return { admin: this.#servers.adminUrl, ...this.#servers.ports, delivery: this.#deliveryPort }
  }

  /** Called once when a client of the admin port requests a shutdown. */
  onQuit(quit: () => void): void {
    this.#quit = quit
  }

  /** Also ends a start that waits for the API. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#certificate.close()
    this.#deployer?.close()
    this.#control.close()
    await this.#delivery.close()
    for (const each of [this.#definitions, this.#statuses, this.#eventWriter, this.#finalizers]) each[Symbol.dispose]()
    await this.#servers.close()
    this.#metrics.close()
    this.#client[Symbol.dispose]()
  }

  /** Everything was read once. */
  #begin(): void {
    if (this.#isClosed) return
    const programmed = this.#store.list().filter(isProgrammed).map(keyOf)
    this.#control.start(() => {
      this.#control.defined(this.#definitionVersions)
      for (const gateway of programmed) this.#delivery.proxies.expect(gateway, this.#deployer!.portsOf(gateway))
    })
    this.#isTranslated = true
    this.#delivery.open()
    this.#events.readiness([])
  }

  #defined(versions: DefinitionVersions | undefined): void {
    this.#definitionVersions = versions
    if (this.#isTranslated) this.#control.defined(versions)
  }

  #samples(): ReturnType<typeof gatherControllerSamples> {
    return gatherControllerSamples({
      planVersion: this.#delivery.version,
      findings: [...this.#store.problems(), ...this.#control.findings],
      queues: {
        statuses: this.#statuses.queued,
        events: this.#eventWriter.queued,
        finalizers: this.#finalizers.queued,
        deployments: this.#deployer?.queued ?? 0,
      },
      proxies: this.#delivery.proxies.counts(),
    })
  }

  /** For operators. */
  #status(): StatusReport {
    return describeStatus({
      store: {
        ...NO_FILES,
        list: () => this.#store.list(),
        statusOf: (key) => this.#store.statusOf(key),
        problems: () => this.#store.problems(),
      },
      prices: undefined,
      findings: this.#control.findings,
      ofDataPlane: {
        planVersion: this.#delivery.version,
        workers: [],
        failingOutputs: [],
        keySets: [],
        credentials: [],
        proxies: this.#delivery.proxies.list(),
      },
      notReady: this.whyNotReady,
    })
  }

  #take(delta: PlanDelta): ReadonlyMap<string, readonly Finding[]> {
    this.#deployer?.take(delta)
    this.#delivery.take(delta)
    return this.#checks.take(delta)
  }

  #objectsTaken(change: ObjectChange): void {
    this.#metrics.reconciled('translation', 'success', clock.monotonic() - this.#takenMs)
    this.#deployer?.update(change)
    if (![...change.set, ...change.removed].some(({ kind }) => OF_CLASSES.has(kind))) return
    this.#finalizers.update(this.#store.list())
    this.#delivery.revoke((gateway) => this.#uidOf(gateway) === undefined)
  }

  /** Of an object in force, by its key. */
  #uidOf(key: string): string | undefined {
    return this.#store.resourceOf(key)?.metadata.uid
  }

  #warn(message: string): void {
    this.#events.message('control', 'warn', 'the Kubernetes API cannot be read or written', { cause: message })
  }
}

/** Whether the status of a Gateway says that its newest generation is in force. */
function isProgrammed({ kind, metadata, status }: ApiObject): boolean {
  if (kind !== 'Gateway') return false
  const { conditions } = membersOf(status)
  return itemsOf(conditions)
    .map(membersOf)
    .some(
      ({ type, status, observedGeneration }) =>
        type === 'Programmed' && status === 'True' && observedGeneration === metadata.generation,
    )
}
