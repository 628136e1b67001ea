import { createSecureContext, type SecureContext } from 'node:tls'
import { ApiUnreadable } from '#cluster/api-unreadable.ts'
import type { ProxyAccounts } from '#cluster/deploy/proxy-accounts.ts'
import { type CallMetadata, PlanServer } from '#deliver/plan-server.ts'
import type { ServedProxy } from '#deliver/proxy-stream.ts'
import { ReplicaClient, type ReplicaCredentials } from '#deliver/replica-client.ts'
import { isReplica, replicaToken } from '#deliver/replica-token.ts'
import type { PlanDelta } from '#plan/delta.ts'
import type { ProxyReports } from '#plan/plan-link.ts'
import type { InstanceEvents } from './events.ts'
import type { HostPort } from './options.ts'
import { ServedProxies } from './served-proxies.ts'

export interface ProxyDeliveryOptions {
  readonly address: HostPort
  /** The host name in the certificate of all replicas. */
  readonly serverName: string
  /** Decides which Gateway's plan a proxy gets. */
  readonly accounts: ProxyAccounts
  readonly reports: Pick<ProxyReports, 'reported' | 'observed'>
  readonly events: Pick<InstanceEvents, 'message'>
  readonly reportBug: (error: unknown) => void
}

/** The certificate of all replicas, its key, and the authorities that they trust, in PEM. */
export interface DeliveryCredentials {
  readonly certificate: string
  readonly key: string
  readonly authority: string
  /** The key that follows. Other replicas may use it already. */
  readonly nextKey?: string | undefined
}

/** Delivers plans to the proxies of a cluster, and passes on what they report: up, and to the replica that leads. */
export class ProxyDelivery {
  readonly #options: ProxyDeliveryOptions
  readonly #server: PlanServer
  readonly proxies: ServedProxies
  #certificate: SecureContext | undefined
  /** Those that other replicas may have; the first is that of the certificate in use. */
  #tokens: readonly string[] = []
  #leader: ReplicaClient | undefined
  #version = 0

  constructor(options: ProxyDeliveryOptions) {
    const { address, reports, events, reportBug } = options
    this.#options = options
    this.proxies = new ServedProxies({
      reports,
      version: () => this.#version,
      refused: ({ identity }, { key, message }) =>
        events.message('deliver', 'error', 'a proxy cannot use a part of its plan', {
          proxy: identity,
          item: key,
          cause: message,
        }),
    })
    this.#server = new PlanServer({
      ...address,
      tls: () => this.#certificate!,
      authorise: (metadata) => this.#authorise(metadata),
      isReplica: (metadata) => isReplica(metadata.get('authorization'), this.#tokens),
      changed: (proxy) => this.#changed(proxy),
      left: (proxy, why) => this.#left(proxy, why),
      refused: (peer, why) =>
        events.message('deliver', 'warn', 'a proxy was refused', { peer: peer.remoteAddress, cause: why }),
      reportBug,
    })
  }

  /** The newest version of the plan; 0: none yet. */
  get version(): number {
    return this.#version
  }

  /** Opens the port. Proxies get nothing before `open`. @returns its number @throws PortInUse */
  listen(credentials: DeliveryCredentials): Promise<number> {
    const { events } = this.#options
    this.#leader = new ReplicaClient({
      ...this.#use(credentials),
      log: (level, message, fields) => events.message('deliver', level, message, fields),
    })
    return this.#server.listen()
  }

  /** Connections that are open stay. */
  renew(credentials: DeliveryCredentials): void {
    this.#leader?.renew(this.#use(credentials))
  }

  /** Passes on what the proxies of this replica report. @param leader URL of the leader; undefined: it is this replica, or not known */
  forward(leader: string | undefined): void {
    this.#leader?.follow(leader)
  }

  /** The plan contains all that the cluster has. */
  open(): void {
    this.#server.open()
  }

  take(delta: PlanDelta): void {
    this.#version = delta.version
    this.#server.take(delta)
  }

  /** Ends the streams of Gateways that do not exist any more. */
  revoke(isGone: (gateway: string) => boolean): void {
    this.#server.revoke(({ gateway }) => isGone(gateway), 'the Gateway does not exist any more')
  }

  async close(): Promise<void> {
    this.#leader?.close()
    await this.#server.close()
    this.proxies.close()
  }

  #use({ certificate, key, authority, nextKey }: DeliveryCredentials): ReplicaCredentials {
    this.#certificate = createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' })
    const token = replicaToken(key)
    // Replicas read a change one after the other.
    const [before = token] = this.#tokens.filter((known) => known !== token)
    this.#tokens = [token, before, ...(nextKey === undefined ? [] : [replicaToken(nextKey)])]
    return { authority, serverName: this.#options.serverName, token }
  }

  async #authorise(metadata: CallMetadata) {
    try {
      const admitted = await this.#options.accounts.admit(metadata.get('authorization'))
      return 'why' in admitted ? ({ status: 'unauthenticated', message: admitted.why } as const) : admitted
    } catch (error) {
      if (!(error instanceof ApiUnreadable)) throw error
      return {
        status: 'unavailable',
        message: 'the credential cannot be checked, because the cluster does not answer',
      } as const
    }
  }

  #changed(proxy: ServedProxy): void {
    this.proxies.changed(proxy)
    if (!proxy.isForwarded) this.#leader?.changed(proxy)
  }

  #left(proxy: ServedProxy, why: string): void {
    if (!proxy.isForwarded) this.#leader?.left(proxy)
    this.#options.events.message('deliver', 'debug', 'a proxy has disconnected', { proxy: proxy.identity, cause: why })
    this.proxies.left(proxy)
  }
}
