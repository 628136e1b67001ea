import { createSecureContext, type SecureContext } from 'node:tls'
import { startMetricsServer } from '#admin/metrics-server.ts'
import { startReadinessServer } from '#admin/readiness-server.ts'
import type { RunningServer } from '#admin/small-server.ts'
import { type ApiObject, keyOf } from '#api/object.ts'
import { createCertificate } from '#apiserver/credentials/certificates.ts'
import type { Finding } from '#base/finding.ts'
import { SecretSet } from '#base/secret-set.ts'
import type { ApiClient } from '#cluster/api-client.ts'
import { ApiUnreadable } from '#cluster/api-unreadable.ts'
import { ClusterStore } from '#cluster/cluster-store.ts'
import { ProxyAccounts } from '#cluster/deploy/proxy-accounts.ts'
import { ensureSecret } from '#cluster/deploy/stored-secrets.ts'
import { itemsOf, membersOf } from '#cluster/kubeconfig.ts'
import { BEHIND_SERVICES } from '#cluster/statuses/behind-services.ts'
import { ClassFinalizers } from '#cluster/statuses/class-finalizers.ts'
import { ClusterStatuses } from '#cluster/statuses/cluster-statuses.ts'
import { EventWriter } from '#cluster/statuses/event-writer.ts'
import { TokenReviews } from '#cluster/token-reviews.ts'
import type { ControllerNames } from '#control/context/controller.ts'
import { noteSecrets } from '#control/secret-values.ts'
import type { CallMetadata } from '#deliver/plan-server.ts'
import { PlanServer } from '#deliver/plan-server.ts'
import type { ServedProxy } from '#deliver/proxy-stream.ts'
import { GatewayPorts } from '#deploy/gateway-ports.ts'
import type { DeploySettings } from '#deploy/settings.ts'
import { MetricsReader } from '#observe/metrics/metrics-reader.ts'
import type { MetricsFormat } from '#observe/metrics/write-family.ts'
import type { PlanDelta } from '#plan/delta.ts'
import { ControlPlane } from './control-plane.ts'
import { Deployer } from './deployer.ts'
import { type BugReports, bugReports, type InstanceEvents } from './events.ts'
import { gatherControllerSamples } from './gather-samples.ts'
import type { HostPort } from './options.ts'
import { PlanChecks } from './plan-checks.ts'
import { ServedProxies } from './served-proxies.ts'

export interface ControllerOptions {
  /** Who makes the controller closes it. */
  readonly client: ApiClient
  readonly names: ControllerNames
  /** Namespaces that are read; none: all. */
  readonly namespaces: readonly string[]
  readonly delivery: HostPort
  readonly health: HostPort
  readonly metrics: HostPort
  /** The controller's own namespace, and the Service through which proxies reach it. */
  readonly namespace: string
  readonly service: string
  readonly settings: Omit<DeploySettings, 'authority'>
}

/** Objects of a cluster have no place in a file. */
const NO_FILES = { locate: () => undefined }

/** A control plane for Kubernetes: it reads objects from a cluster, deploys proxies, and delivers their plans. */
export class Controller {
  readonly #options: ControllerOptions
  readonly #events: InstanceEvents
  readonly #bugs: BugReports
  readonly #secrets = new SecretSet()
  readonly #metrics: MetricsReader
  readonly #store: ClusterStore
  readonly #statuses: ClusterStatuses
  readonly #eventWriter: EventWriter
  readonly #finalizers: ClassFinalizers
  readonly #accounts: ProxyAccounts
  readonly #checks: PlanChecks
  readonly #control: ControlPlane
  readonly #proxies: ServedProxies
  readonly #ports = new GatewayPorts()
  readonly #servers: RunningServer[] = []
  #delivery: PlanServer | undefined
  #deployer: Deployer | undefined
  #version = 0
  #isTranslated = false
  #isClosed = false
  #deliveryPort = 0

  private constructor(options: ControllerOptions, events: InstanceEvents) {
    const { client, names, namespaces, settings } = options
    this.#options = options
    this.#events = events
    this.#bugs = bugReports(events)
    events.secrets(this.#secrets)
    this.#metrics = new MetricsReader({
      hide: (text) => this.#secrets.hide(text),
      folded: () => {},
      firstFolded: () => {},
    })
    const failed = (message: string) => this.#warn(message)
    this.#eventWriter = new EventWriter({ client, failed, component: names.controller })
    this.#statuses = new ClusterStatuses({
      client,
      controller: names.controller,
      failed,
      versionOf: (info) => this.#store.versionOf(info),
      written: (object, before, after) => this.#eventWriter.tell(object, before, after),
    })
    this.#store = new ClusterStore({ client, namespaces, statuses: this.#statuses })
    this.#finalizers = new ClassFinalizers({ client, controller: names.controller, failed })
    this.#accounts = new ProxyAccounts(client, new TokenReviews(client, settings.audience), (key) => this.#uidOf(key))
    this.#checks = new PlanChecks(this.#bugs.onFault)
    this.#control = new ControlPlane({
      names,
      store: this.#store,
      plans: { take: (delta) => this.#take(delta) },
      addresses: BEHIND_SERVICES,
      takes: (change) => noteSecrets(this.#secrets, change),
      taken: () => this.#objectsTaken(),
      translated: (findings) => events.translated(findings, NO_FILES),
      onFault: this.#bugs.onFault,
    })
    this.#proxies = new ServedProxies({
      reports: this.#control.reports,
      version: () => this.#version,
      refused: ({ identity }, { key, message }) =>
        events.message('deliver', 'error', 'a proxy cannot use a part of its plan', {
          proxy: identity,
          item: key,
          cause: message,
        }),
    })
  }

  /**
   * Starts the servers. The cluster is read meanwhile, and until the API shows everything: `whyNotReady` says what is missing.
   * @throws PortInUse, ApiUnreadable
   */
  static async start(options: ControllerOptions, events: InstanceEvents): Promise<Controller> {
    const controller = new Controller(options, events)
    try {
      await controller.#start()
    } catch (error) {
      await controller.close()
      throw error
    }
    return controller
  }

  get whyNotReady(): readonly string[] {
    if (this.#isClosed) return ['stopping']
    const unsynced = this.#store.whyNotReady()
    if (unsynced.length > 0) return unsynced
    return this.#isTranslated ? [] : ['the objects are not translated yet']
  }

  get ports(): { readonly metrics: number; readonly readiness: number; readonly delivery: number } {
    const [health, metrics] = this.#servers
    return { metrics: metrics!.port, readiness: health!.port, delivery: this.#deliveryPort }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#deployer?.close()
    this.#control.close()
    await this.#delivery?.close()
    this.#proxies.close()
    for (const writer of [this.#statuses, this.#eventWriter, this.#finalizers]) writer[Symbol.dispose]()
    await Promise.all(this.#servers.map((server) => server.close()))
  }

  async #start(): Promise<void> {
    const { client, names, delivery, health, metrics, settings } = this.#options
    const { reportBug } = this.#bugs
    this.#store.subscribe(() => this.#events.clusterChanged(this.#store.problems()))
    this.#servers.push(await startReadinessServer({ ...health, whyNotReady: () => this.whyNotReady, reportBug }))
    const metricsText = (format: MetricsFormat) => {
      const problems = [...this.#store.problems(), ...this.#control.findings]
      return this.#metrics.text(gatherControllerSamples(this.#version, problems, this.#proxies.counts()), format)
    }
    this.#servers.push(await startMetricsServer({ ...metrics, metricsText, reportBug }))
    const tls = await this.#ensureCertificate()
    const context = createSecureContext({ cert: tls['tls.crt'], key: tls['tls.key'], minVersion: 'TLSv1.2' })
    this.#delivery = this.#planServer(delivery, context)
    this.#deliveryPort = await this.#delivery.listen()
    this.#deployer = new Deployer({
      api: client,
      names,
      settings: { ...settings, authority: tls['ca.crt'] },
      objects: () => this.#store.list(),
      portsOf: (gateway) => this.#ports.of(gateway),
      found: (gateway, findings) => this.#control.deployed(gateway, findings),
      failed: (message) => this.#warn(message),
      reportBug,
    })
    void this.#store.synced.then(() => this.#begin()).catch(reportBug)
  }

  /** Everything was read once. */
  #begin(): void {
    if (this.#isClosed) return
    const programmed = this.#store.list().filter(isProgrammed).map(keyOf)
    this.#control.start()
    for (const gateway of programmed) this.#proxies.expect(gateway, this.#ports.of(gateway))
    this.#isTranslated = true
    this.#delivery?.open()
    this.#deployer?.update()
    this.#events.readiness([])
  }

  /** The authority of the controller lives in a Secret, so that all its pods have the same. */
  async #ensureCertificate(): Promise<Readonly<Record<string, string>>> {
    const { client, namespace, service } = this.#options
    const host = `${service}.${namespace}.svc`
    const metadata = { name: `${service}-authority`, namespace }
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque' }
    return ensureSecret(client, secret, async () => {
      const { ca, certificate, key } = await createCertificate({ dns: [host, `${host}.cluster.local`], ips: [] })
      return { 'ca.crt': ca, 'tls.crt': certificate, 'tls.key': key }
    })
  }

  #planServer({ host, port }: HostPort, context: SecureContext): PlanServer {
    return new PlanServer({
      host,
      port,
      tls: () => context,
      authorise: (metadata) => this.#authorise(metadata),
      changed: (proxy) => this.#proxies.changed(proxy),
      left: (proxy, why) => this.#left(proxy, why),
      refused: (peer, why) =>
        this.#events.message('deliver', 'warn', 'a proxy was refused', { peer: peer.remoteAddress, cause: why }),
      reportBug: this.#bugs.reportBug,
    })
  }

  async #authorise(metadata: CallMetadata) {
    try {
      const admitted = await this.#accounts.admit(metadata.get('authorization'))
      return 'why' in admitted ? ({ status: 'unauthenticated', message: admitted.why } as const) : admitted
    } catch (error) {
      if (!(error instanceof ApiUnreadable)) throw error
      return {
        status: 'unavailable',
        message: 'the credential cannot be checked, because the cluster does not answer',
      } as const
    }
  }

  #take(delta: PlanDelta): ReadonlyMap<string, readonly Finding[]> {
    this.#version = delta.version
    this.#ports.take(delta)
    this.#delivery?.take(delta)
    return this.#checks.take(delta)
  }

  #objectsTaken(): void {
    this.#finalizers.update(this.#store.list())
    this.#deployer?.update()
    this.#delivery?.revoke(({ gateway }) => this.#uidOf(gateway) === undefined, 'the Gateway does not exist any more')
  }

  #left(proxy: ServedProxy, why: string): void {
    this.#events.message('deliver', 'debug', 'a proxy has disconnected', { proxy: proxy.identity, cause: why })
    this.#proxies.left(proxy)
  }

  /** Of an object in force, by its key. */
  #uidOf(key: string): string | undefined {
    return this.#store.resourceOf(key)?.metadata.uid
  }

  #warn(message: string): void {
    this.#events.message('control', 'warn', 'the cluster cannot be asked or changed', { cause: message })
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
