import type { PlanDelta } from '#plan/delta.ts'
import type { PlanItem } from '#plan/item.ts'
import { GatewayScopes } from './gateway-scopes.ts'
import { ITEM_TYPE, type PlanResource, type PlanType, RunningSnapshot, resourceOf } from './plan-resource.ts'

/** Versions that a proxy can be behind and still be known to have one. */
const MAX_KNOWN = 64

/** A resource that changed, was added or removed. */
export interface ResourceChange extends Pick<PlanResource, 'name' | 'type'> {
  /** Its version before; undefined: the Gateway did not use it. */
  readonly before: string | undefined
}

/** Hears of changes of what a Gateway uses. */
export type PlanWatcher = (changed: readonly ResourceChange[]) => void

/** The resources that one Gateway uses, while somebody watches them. */
export class GatewayPlan {
  #resources = new Map<string, PlanResource>()
  readonly #items = new RunningSnapshot()
  /** By snapshot hash of items, the version of the plan in which the Gateway has got them. */
  readonly #known = new Map<string, number>()
  readonly #version: () => number
  readonly watchers = new Set<PlanWatcher>()

  /** @param used all that the Gateway uses @param version the newest one of the whole plan */
  constructor(used: readonly PlanResource[], version: () => number) {
    this.#version = version
    this.replace(used)
    this.#remember()
  }

  find(name: string): PlanResource | undefined {
    return this.#resources.get(name)
  }

  *ofType(type: PlanType): Generator<PlanResource> {
    for (const resource of this.#resources.values()) if (resource.type === type) yield resource
  }

  /** The version of the whole plan that has these items, which is the newest one if they have not changed since; 0: not known. @param hash of their snapshot */
  versionOf(hash: string): number {
    return hash === this.#items.snapshot.hash ? this.#version() : (this.#known.get(hash) ?? 0)
  }

  /** @param used all that the Gateway uses now */
  replace(used: readonly PlanResource[]): void {
    const had = this.#resources
    this.#resources = new Map(used.map((resource) => [resource.name, resource]))
    const changed: ResourceChange[] = []
    for (const { name, type, version } of used) {
      const before = had.get(name)?.version
      if (before !== version) changed.push({ name, type, before })
    }
    for (const { name, type, version } of had.values())
      if (!this.#resources.has(name)) changed.push({ name, type, before: version })
    this.#tell(changed)
  }

  /** Replaces what it uses of these resources by their new versions. */
  update(resources: readonly PlanResource[]): void {
    const changed: ResourceChange[] = []
    for (const resource of resources) {
      const { name, type, version } = resource
      const before = this.#resources.get(name)?.version
      if (before === undefined || before === version) continue
      this.#resources.set(name, resource)
      changed.push({ name, type, before })
    }
    this.#tell(changed)
  }

  #tell(changed: readonly ResourceChange[]): void {
    if (changed.length === 0) return
    const items = changed.filter(({ type }) => type === ITEM_TYPE)
    for (const { name, before } of items) this.#items.replace(before, this.#resources.get(name)?.version)
    if (items.length > 0) this.#remember()
    for (const watcher of [...this.watchers]) watcher(changed)
  }

  #remember(): void {
    const { hash } = this.#items.snapshot
    this.#known.delete(hash)
    this.#known.set(hash, this.#version())
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_KNOWN) this.#known.delete(oldest!)
  }
}

/** The plan as resources, by Gateway. */
export class GatewayPlans {
  readonly #scopes = new GatewayScopes()
  readonly #resources = new Map<string, PlanResource>()
  /** Those that are watched, by key of the Gateway. */
  readonly #plans = new Map<string, GatewayPlan>()
  #version = 0

  /** The newest version; 0: none yet. */
  get version(): number {
    return this.#version
  }

  take(change: PlanDelta): void {
    this.#version = change.version
    for (const key of change.removed) this.#resources.delete(key)
    const set = change.set.map((item: PlanItem) => resourceOf(item))
    for (const resource of set) this.#resources.set(resource.name, resource)
    const isMoved = this.#scopes.take(change)
    for (const [gateway, plan] of this.#plans) {
      if (isMoved) plan.replace(this.#usedBy(gateway))
      else plan.update(set)
    }
  }

  /** @param gateway key of its item, which need not exist @returns the plan until `unwatch` */
  watch(gateway: string, watcher: PlanWatcher): GatewayPlan {
    let plan = this.#plans.get(gateway)
    if (plan === undefined) {
      plan = new GatewayPlan(this.#usedBy(gateway), () => this.#version)
      this.#plans.set(gateway, plan)
    }
    plan.watchers.add(watcher)
    return plan
  }

  unwatch(gateway: string, watcher: PlanWatcher): void {
    const plan = this.#plans.get(gateway)
    plan?.watchers.delete(watcher)
    if (plan?.watchers.size === 0) this.#plans.delete(gateway)
  }

  #usedBy(gateway: string): readonly PlanResource[] {
    return this.#scopes.itemsOf(gateway).map((key) => this.#resources.get(key)!)
  }
}
