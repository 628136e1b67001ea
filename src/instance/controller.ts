import type { StatusReport } from '#admin/status-report.ts'
import { type ApiObject, keyOf, objectKey } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import { SecretSet } from '#base/secret-set.ts'
import type { ApiAccess } from '#cluster/api-access.ts'
import { ApiClient } from '#cluster/api-client.ts'
import { ClusterStore } from '#cluster/cluster-store.ts'
import { ProxyAccounts } from '#cluster/deploy/proxy-accounts.ts'
import type { Term } from '#cluster/fenced-api.ts'
import { GatewayDefinitions } from '#cluster/gateway-definitions.ts'
import { itemsOf, membersOf } from '#cluster/kubeconfig.ts'
import { LeaderLease, type LeaseTimes } from '#cluster/leader-lease.ts'
import { BEHIND_SERVICES } from '#cluster/statuses/behind-services.ts'
import { TokenReviews } from '#cluster/token-reviews.ts'
import type { ControllerNames } from '#control/context/controller.ts'
import { checkEnds } from '#control/references/check-ends.ts'
import { noteSecrets } from '#control/secret-values.ts'
import type { DefinitionVersions } from '#control/status/supported-version.ts'
import { digestOfAuthorities } from '#deliver/trusted-authorities.ts'
import type { DeploySettings } from '#deploy/settings.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import type { PlanDelta } from '#plan/delta.ts'
import { endsIn } from '#plan/material-ends.ts'
import type { Resource } from '#store/resources/resource.ts'
import { ControlPlane } from './control-plane.ts'
import { type CertificateNames, type CertificateSource, ControllerCertificate } from './controller-certificate.ts'
import { ControllerMetrics } from './controller-metrics.ts'
import { describeStatus } from './describe-status.ts'
import { type BugReports, bugReports, type InstanceEvents } from './events.ts'
import { gatherControllerSamples, type UsedEnd } from './gather-samples.ts'
import { LeaderWork } from './leader-work.ts'
import { OperatorServers } from './operator-servers.ts'
import type { HostPort, InstanceOptions } from './options.ts'
import { PlanChecks } from './plan-checks.ts'
import { type DeliveryCredentials, ProxyDelivery } from './proxy-delivery.ts'
import type { CertificateEntries } from './rotation-step.ts'

export interface ControllerOptions
  extends Pick<InstanceOptions, 'admin' | 'metrics' | 'readiness' | 'state'>,
    CertificateNames {
  readonly access: ApiAccess
  readonly names: ControllerNames
  /** Namespaces that are read; none: all. */
  readonly namespaces: readonly string[]
  readonly delivery: HostPort
  readonly certificate: CertificateSource
  readonly settings: Omit<DeploySettings, 'authority'>
  /** This process among all replicas: no other ever has the same name. */
  readonly identity: string
  /** The address at which other replicas reach its server for proxies; undefined: none does. */
  readonly replicaHost: string | undefined
  /** Of the lease, and instead of `SETTLE_MS`; for tests. */
  readonly leadTimes?: LeaseTimes & { readonly settleMs: number }
}

/** Kinds that decide which classes and Gateways there are. */
const OF_CLASSES: ReadonlySet<string> = new Set(['GatewayClass', 'Gateway'])

/** So long a new leader waits for what other replicas and returning proxies report, before it changes statuses that an earlier leader has written. */
const SETTLE_MS = 5000

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
  readonly #lease: LeaderLease
  readonly #definitions: GatewayDefinitions
  readonly #certificate: ControllerCertificate
  readonly #checks: PlanChecks
  readonly #control: ControlPlane
  readonly #delivery: ProxyDelivery
  readonly #servers: OperatorServers
  /** While this replica leads. */
  #work: LeaderWork | undefined
  #settling: { cancel(): void } | undefined
  #authority = ''
  #ownSecret: Resource | undefined
  #ends: readonly UsedEnd[] = []
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
    this.#store = new ClusterStore({ client, namespaces, statuses: { write: (writes) => this.#work?.write(writes) } })
    this.#lease = new LeaderLease({
      client,
      namespace: options.namespace,
      name: options.service,
      identity: options.identity,
      address: () => this.#replicaUrl,
      gained: (term) => this.#lead(term),
      followed: (address) => this.#delivery.forward(address),
      failed,
      reportBug: this.#bugs.reportBug,
      ...(options.leadTimes && { times: options.leadTimes }),
    })
    this.#definitions = new GatewayDefinitions({
      client,
      changed: (versions) => this.#defined(versions),
      failed,
      reportBug: this.#bugs.reportBug,
    })
    this.#certificate = new ControllerCertificate({
      ...options,
      client,
      changed: (entries) => this.#renew(entries),
      read: (secret, entries) => this.#checkOwn(secret, entries),
      lagging: (authorities) => {
        const digest = digestOfAuthorities(authorities)
        return this.#work === undefined ? undefined : this.#delivery.proxies.distrusting(digest)
      },
      failed,
      log: (...line) => events.message('deliver', ...line),
      reportBug: this.#bugs.reportBug,
    })
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
      translated: (findings) => {
        events.translated(findings, NO_FILES)
        this.#work?.warn(findings)
      },
      onFault: this.#bugs.onFault,
    })
    this.#delivery = new ProxyDelivery({
      address: options.delivery,
      serverName: this.#certificate.host,
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
    this.#deliveryPort = await this.#delivery.listen(this.#credentialsIn(tls))
    void this.#certificate.follow()
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
    if (!this.#isTranslated) return ['the objects are not translated yet']
    const { whyUnknown } = this.#lease
    return whyUnknown === undefined ? [] : [`it is not known which replica leads: ${whyUnknown}`]
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
    // Its term is over at once. Proxies need not wait until the lease is given back.
    const released = this.#lease.close()
    this.#control.close()
    await Promise.all([released, this.#delivery.close()])
    this.#definitions[Symbol.dispose]()
    await this.#servers.close()
    this.#metrics.close()
    this.#client[Symbol.dispose]()
  }

  /** Everything was read once. */
  #begin(): void {
    if (this.#isClosed) return
    this.#control.holdStatuses(true)
    this.#control.start(() => this.#control.defined(this.#definitionVersions))
    this.#isTranslated = true
    this.#delivery.open()
    this.#lease.start()
    this.#events.readiness([])
  }

  /** Proxies and other replicas see it from now on. */
  #renew(entries: CertificateEntries): void {
    const before = this.#authority
    this.#delivery.renew(this.#credentialsIn(entries))
    if (this.#authority !== before) this.#work?.redeploy()
  }

  #credentialsIn(entries: CertificateEntries): DeliveryCredentials {
    this.#authority = entries['ca.crt']!
    return {
      authority: this.#authority,
      certificate: entries['tls.crt']!,
      key: entries['tls.key']!,
      nextKey: entries['next.key'],
    }
  }

  /** The Secret with its certificate is checked as those are that objects refer to. */
  #checkOwn(secret: Resource, entries: CertificateEntries): void {
    const { namespace = '', name } = secret.metadata
    const origin = { kind: 'Secret', namespace, name }
    const findings: Finding[] = []
    const check = { validity: TLS_MATERIAL.validity, isPast: (ms: number) => clock.now() > ms }
    checkEnds(`Secret ${namespace}/${name}`, entries, check, (problem) => findings.push({ origin, ...problem }))
    const object = objectKey('Secret', namespace, name)
    this.#ownSecret = secret
    this.#ends = endsIn(entries, check.validity, check.isPast).map((end) => ({ object, ...end }))
    if (this.#isTranslated) this.#control.deployed(object, findings)
  }

  /** This replica leads. It writes what differs from what the cluster has. */
  #lead(term: Term): void {
    this.#say('this replica leads: it writes statuses and deploys proxies')
    const work = new LeaderWork(
      {
        client: this.#client,
        store: this.#store,
        names: this.#options.names,
        settings: () => ({ ...this.#options.settings, authority: this.#authority }),
        found: (gateway, findings) => this.#control.deployed(gateway, findings),
        resourceOf: (key) => this.#resourceOf(key),
        looked: (outcome, ms) => this.#metrics.reconciled('deployment', outcome, ms),
        failed: (message) => this.#warn(message),
        reportBug: this.#bugs.reportBug,
      },
      term,
    )
    this.#work = work
    term.signal.addEventListener('abort', () => this.#endWork(work), { once: true })
    work.warn(this.#control.findings)
    const objects = this.#store.list()
    work.take({ set: [...this.#control.items.values()], removed: [] })
    work.update({ set: objects, removed: [] })
    work.updateClasses(objects)
    const reported = objects.flatMap((object) => this.#reported(object) ?? [])
    for (const { gateway, isProgrammed } of reported)
      if (isProgrammed) this.#delivery.proxies.expect(gateway, work.portsOf(gateway))
    const { settleMs = SETTLE_MS } = this.#options.leadTimes ?? {}
    const settled = () => this.#control.holdStatuses(false)
    if (reported.length === 0) settled()
    else this.#settling = clock.after(settleMs, settled)
  }

  #endWork(work: LeaderWork): void {
    this.#settling?.cancel()
    this.#control.holdStatuses(true)
    this.#store.forgetWrites()
    this.#work = undefined
    work[Symbol.dispose]()
    this.#say('this replica does not lead any more')
  }

  /** What an earlier leader has said about the proxies of a Gateway. */
  #reported(object: ApiObject): { readonly gateway: string; readonly isProgrammed: boolean } | undefined {
    if (object.kind !== 'Gateway') return undefined
    const key = keyOf(object)
    const { conditions } = membersOf(this.#store.statusOf(key))
    const found = itemsOf(conditions)
      .map(membersOf)
      .find(({ type, observedGeneration }) => type === 'Programmed' && observedGeneration !== undefined)
    if (found === undefined) return undefined
    const isProgrammed = found.status === 'True' && found.observedGeneration === object.metadata.generation
    return { gateway: key, isProgrammed }
  }

  /** Where other replicas reach this one. */
  get #replicaUrl(): string | undefined {
    const { replicaHost: host } = this.#options
    if (host === undefined) return undefined
    return `https://${host.includes(':') ? `[${host}]` : host}:${this.#deliveryPort}`
  }

  #defined(versions: DefinitionVersions | undefined): void {
    this.#definitionVersions = versions
    if (this.#isTranslated) this.#control.defined(versions)
  }

  #samples(): ReturnType<typeof gatherControllerSamples> {
    return gatherControllerSamples({
      planVersion: this.#delivery.version,
      findings: [...this.#store.problems(), ...this.#control.findings],
      ends: this.#ends,
      leads: this.#lease.leads,
      queues: this.#work?.queued ?? {},
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
    this.#work?.take(delta)
    this.#delivery.take(delta)
    return this.#checks.take(delta)
  }

  #objectsTaken(change: ObjectChange): void {
    this.#metrics.reconciled('translation', 'success', clock.monotonic() - this.#takenMs)
    this.#work?.update(change)
    if (![...change.set, ...change.removed].some(({ kind }) => OF_CLASSES.has(kind))) return
    this.#work?.updateClasses(this.#store.list())
    this.#delivery.revoke((gateway) => this.#uidOf(gateway) === undefined)
  }

  #resourceOf(key: string): Resource | undefined {
    const own = this.#ownSecret?.metadata
    if (own !== undefined && key === objectKey('Secret', own.namespace ?? '', own.name)) return this.#ownSecret
    return this.#store.resourceOf(key)
  }

  /** Of an object in force, by its key. */
  #uidOf(key: string): string | undefined {
    return this.#store.resourceOf(key)?.metadata.uid
  }

  #say(message: string): void {
    this.#events.message('control', 'info', message, {})
  }

  #warn(message: string): void {
    this.#events.message('control', 'warn', 'the Kubernetes API cannot be read or written', { cause: message })
  }
}
