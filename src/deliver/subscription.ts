import type { DiscoveryResource, DiscoveryResponse } from './discovery-messages.ts'
import type { GatewayPlan, ResourceChange } from './gateway-plans.ts'
import { type PlanType, RunningSnapshot, SNAPSHOT, snapshotResource, toMessage } from './plan-resource.ts'

/** Bytes of resources after which a response is sent, and the rest follows in the next one. Clients accept 4 MiB by default. */
const PART_BYTES = 1024 * 1024

/**
 * The resources of one type that one proxy has, as the difference from what its Gateway uses: there may be thousands of proxies. One response
 * at a time waits for its acknowledgement.
 */
export class Subscription {
  readonly #type: PlanType
  readonly #plan: GatewayPlan
  /** What the proxy has, or gets with the response on its way. */
  readonly #sent = new RunningSnapshot()
  /** By name of each resource that may differ, the version that the proxy has; undefined: none. Of all others it has the newest one. */
  readonly #pending = new Map<string, string | undefined>()
  #nonce: string | undefined
  #isNew = true

  /** @param initial versions that the proxy has of an earlier stream */
  constructor(type: PlanType, plan: GatewayPlan, initial: ReadonlyMap<string, string>) {
    this.#type = type
    this.#plan = plan
    for (const [name, version] of initial) {
      if (name === SNAPSHOT) continue
      this.#sent.replace(undefined, version)
      this.#pending.set(name, version)
    }
    for (const { name } of plan.ofType(type)) this.changed({ name, before: undefined })
  }

  changed({ name, before }: Pick<ResourceChange, 'name' | 'before'>): void {
    if (!this.#pending.has(name)) this.#pending.set(name, before)
  }

  /** The proxy has acknowledged all that there is. */
  get isCurrent(): boolean {
    return !this.#isNew && this.#pending.size === 0 && this.#nonce === undefined
  }

  /** Whether a response waits for its acknowledgement. */
  get waits(): boolean {
    return this.#nonce !== undefined
  }

  /** Whether the proxy lacks resources that no response has yet. */
  get lacksAny(): boolean {
    return this.#isNew || this.#lacksSome
  }

  /**
   * The next response: all that has changed, or a part of it. The last part has the snapshot.
   * @param keepsRemoved removed resources wait for a later response
   */
  next(nonce: string, keepsRemoved: boolean): DiscoveryResponse | undefined {
    if (this.waits) return undefined
    const removed = keepsRemoved ? [] : this.#takeRemoved()
    const resources = this.#takeLacking()
    if (!this.#isNew && resources.length === 0 && removed.length === 0) return undefined
    const { snapshot } = this.#sent
    if (!this.#lacksSome) {
      this.#isNew = false
      resources.push(toMessage(snapshotResource(this.#type, snapshot)))
    }
    this.#nonce = nonce
    return { systemVersion: snapshot.hash, resources, removed, typeUrl: this.#type, nonce }
  }

  /** @returns false: it is no answer to the response on its way */
  answered(nonce: string): boolean {
    if (nonce !== this.#nonce) return false
    this.#nonce = undefined
    return true
  }

  get #lacksSome(): boolean {
    for (const [name, held] of this.#pending) {
      const resource = this.#find(name)
      if (resource !== undefined && resource.version !== held) return true
    }
    return false
  }

  #takeRemoved(): string[] {
    const removed: string[] = []
    for (const [name, held] of this.#pending) {
      if (this.#find(name) !== undefined) continue
      this.#pending.delete(name)
      if (held === undefined) continue
      this.#sent.replace(held, undefined)
      removed.push(name)
    }
    return removed
  }

  #takeLacking(): DiscoveryResource[] {
    const resources: DiscoveryResource[] = []
    let bytes = 0
    for (const [name, held] of this.#pending) {
      const resource = this.#find(name)
      if (resource === undefined) continue
      if (resource.version !== held) {
        bytes += resource.value.length
        if (resources.length > 0 && bytes > PART_BYTES) break
        resources.push(toMessage(resource))
        this.#sent.replace(held, resource.version)
      }
      this.#pending.delete(name)
    }
    return resources
  }

  #find(name: string) {
    const resource = this.#plan.find(name)
    return resource?.type === this.#type ? resource : undefined
  }
}
