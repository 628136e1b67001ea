import { type ApiObject, objectKey } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import type { Finding } from '#base/finding.ts'
import type { ApiClient } from '#cluster/api-client.ts'
import type { ClusterStore } from '#cluster/cluster-store.ts'
import { FencedApi, type Term } from '#cluster/fenced-api.ts'
import { ClassFinalizers } from '#cluster/statuses/class-finalizers.ts'
import { ClusterStatuses } from '#cluster/statuses/cluster-statuses.ts'
import { EventWriter } from '#cluster/statuses/event-writer.ts'
import { END_CODES } from '#control/references/check-ends.ts'
import type { PlanChange } from '#plan/delta.ts'
import type { Resource } from '#store/resources/resource.ts'
import type { StatusWrites } from '#store/store.ts'
import { Deployer, type DeployerOptions } from './deployer.ts'

export interface LeaderWorkOptions extends Omit<DeployerOptions, 'api' | 'objects'> {
  readonly client: ApiClient
  readonly store: Pick<ClusterStore, 'list' | 'versionOf' | 'seen'>
  /** An object as the API has it, by its key. */
  readonly resourceOf: (key: string) => Resource | undefined
}

/**
 * What only the leader of several replicas does: it writes statuses, Events and finalizers, and deploys proxies. It begins and ends with the term of
 * its leader, so nothing that waits outlasts it.
 */
export class LeaderWork implements Disposable {
  readonly #options: LeaderWorkOptions
  readonly #statuses: ClusterStatuses
  readonly #events: EventWriter
  readonly #finalizers: ClassFinalizers
  readonly #deployer: Deployer
  /** Messages of Events about what ends. */
  #ending: ReadonlySet<string> = new Set()
  /** Gateways whose deployment has problems. */
  readonly #blocked = new Set<string>()

  constructor(options: LeaderWorkOptions, term: Term) {
    const { store, failed, found } = options
    const { controller } = options.names
    const client = new FencedApi(options.client, term)
    this.#options = options
    this.#events = new EventWriter({ client, failed, component: controller })
    this.#statuses = new ClusterStatuses({
      client,
      controller,
      failed,
      versionOf: (info) => store.versionOf(info),
      seen: (key) => store.seen(key),
      written: (object, before, after) => this.#events.tell(object, before, after),
    })
    this.#finalizers = new ClassFinalizers({ client, controller, failed })
    this.#deployer = new Deployer({
      ...options,
      api: client,
      objects: () => store.list(),
      found: (gateway, findings) => {
        this.#noteBlocked(gateway, findings)
        found(gateway, findings)
      },
    })
  }

  /** Writes that wait or are under way, by name. */
  get queued(): Readonly<Record<string, number>> {
    return {
      statuses: this.#statuses.queued,
      events: this.#events.queued,
      finalizers: this.#finalizers.queued,
      deployments: this.#deployer.queued,
      images: this.#deployer.waiting,
    }
  }

  /** Ports of the listeners of a Gateway that are served, by its key. */
  portsOf(gateway: string): readonly number[] {
    return this.#deployer.portsOf(gateway)
  }

  write(writes: StatusWrites): void {
    this.#statuses.write(writes)
  }

  /** Tells of certificates and tokens that end soon, or have ended, in Events of their Secrets. @param findings all of them */
  warn(findings: readonly Finding[]): void {
    const ends = findings.filter(({ code }) => END_CODES.has(code))
    for (const { origin, message } of ends) {
      const object = this.#options.resourceOf(objectKey(origin.kind, origin.namespace, origin.name))
      if (object === undefined || this.#ending.has(message)) continue
      this.#events.tellDraft(object, { type: 'Warning', reason: 'Expires', message })
    }
    this.#ending = new Set(ends.map(({ message }) => message))
  }

  /** Takes a change of the plan. `update` follows, with the objects that it is from. */
  take(change: PlanChange): void {
    this.#deployer.take(change)
  }

  /** Deploys what a change of objects concerns. */
  update(change: ObjectChange): void {
    this.#deployer.update(change)
  }

  /** The settings of deployments have changed. */
  redeploy(): void {
    this.#deployer.redeploy()
  }

  /** @param objects all of them */
  updateClasses(objects: readonly ApiObject[]): void {
    this.#finalizers.update(objects)
  }

  [Symbol.dispose](): void {
    this.#deployer.close()
    for (const each of [this.#statuses, this.#events, this.#finalizers]) each[Symbol.dispose]()
    for (const gateway of this.#blocked) this.#options.found(gateway, [])
  }

  #noteBlocked(gateway: string, findings: readonly Finding[]): void {
    if (findings.length > 0) this.#blocked.add(gateway)
    else this.#blocked.delete(gateway)
  }
}
